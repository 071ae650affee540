//! What embedded C says about itself in comments.

/// The claims that a piece of embedded C makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    /// `/* pure */`
    pub(crate) pure_: bool,
    /// `/* stable */`
    pub(crate) stable: bool,
    /// `/* string */`: as an expression, it is a string.
    pub(crate) string: bool,
    /// `/* guru */`: scripts may call it only in guru mode.
    pub(crate) guru: bool,
    /// `/* pragma:read:NAME */`
    pub(crate) reads: Vec<String>,
    /// `/* pragma:write:NAME */`
    pub(crate) writes: Vec<String>,
    /// `/* pragma:xlate NAME */`: it stands for this operation of the runtime.
    pub(crate) intrinsic: Option<String>,
    /// It names `STAP_ERROR` or something else that raises.
    pub(crate) raises: bool,
    /// It names `STAP_NEXT`.
    pub(crate) next: bool,
    /// It names the function's result.
    pub(crate) result: bool,
}

/// Reads the claims.
pub(crate) fn claims(code: &str) -> Claims {
    let mut claims = Claims::default();
    let mut code_only = String::with_capacity(code.len());
    for piece in pieces(code) {
        match piece {
            Piece::Comment(text) => read_comment(text.trim(), &mut claims),
            Piece::Code(text) => code_only.push_str(text),
        }
    }
    claims.raises = ["STAP_ERROR", "last_error"].iter().any(|word| has_word(&code_only, word));
    claims.next = has_word(&code_only, "STAP_NEXT");
    claims.result = ["STAP_RETVALUE", "__retvalue"].iter().any(|word| has_word(&code_only, word))
        || returns_a_value(&code_only);
    claims
}

fn read_comment(comment: &str, claims: &mut Claims) {
    match comment {
        "pure" => claims.pure_ = true,
        "stable" => (claims.pure_, claims.stable) = (true, true),
        "string" => claims.string = true,
        "guru" => claims.guru = true,
        _ => {
            if let Some(name) = comment.strip_prefix("pragma:read:") {
                claims.reads.push(name.trim().into());
            } else if let Some(name) = comment.strip_prefix("pragma:write:") {
                claims.writes.push(name.trim().into());
            } else if let Some(name) = comment.strip_prefix("pragma:xlate ") {
                claims.intrinsic = Some(name.trim().into());
            }
        }
    }
}

enum Piece<'a> {
    Comment(&'a str),
    Code(&'a str),
}

/// Splits C into comments and what is between them; string literals hide neither's marks.
fn pieces(code: &str) -> Vec<Piece<'_>> {
    let bytes = code.as_bytes();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                pieces.push(Piece::Code(&code[start..at]));
                let text = at + 2;
                let end = code[text..].find("*/").map_or(code.len(), |found| text + found);
                pieces.push(Piece::Comment(&code[text..end]));
                at = (end + 2).min(code.len());
                start = at;
            }
            (b'/', Some(b'/')) => {
                pieces.push(Piece::Code(&code[start..at]));
                at = code[at..].find('\n').map_or(code.len(), |found| at + found);
                start = at;
            }
            (quote @ (b'"' | b'\''), _) => at = skip_quoted(bytes, at, quote),
            _ => at += 1,
        }
    }
    pieces.push(Piece::Code(&code[start..]));
    pieces
}

fn skip_quoted(bytes: &[u8], open: usize, quote: u8) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn has_word(code: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].ends_with(part_of_word) && !code[at + word.len()..].starts_with(part_of_word)
    })
}

/// Whether there is a `STAP_RETURN` with a value.
fn returns_a_value(code: &str) -> bool {
    code.match_indices("STAP_RETURN").any(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        rest.strip_prefix('(').is_some_and(|inside| !inside.trim_start().starts_with(')'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_make_claims() {
        let found = claims("/* pure */ /* pragma:read:n */ STAP_RETVALUE = STAP_GLOBAL_GET_n();");
        assert!(found.pure_ && found.result && !found.raises && !found.stable);
        assert_eq!(found.reads, ["n"]);
        assert_eq!(claims("/* pragma:xlate ctx.pid */").intrinsic.as_deref(), Some("ctx.pid"));
    }

    #[test]
    fn words_count_only_in_code() {
        assert!(claims("STAP_ERROR(\"no\");").raises);
        assert!(!claims("/* STAP_ERROR */ MY_STAP_ERROR_X;").raises);
        assert!(claims("STAP_RETURN(1);").result);
        assert!(!claims("STAP_RETURN();").result);
        assert!(!claims("puts(\"/* pure */\");").pure_);
    }

    #[test]
    fn open_ends_are_no_trouble() {
        for code in ["/*", "/", "\"", "'\\", "// é", "/* é", "\"\\é"] {
            claims(code);
        }
    }
}
