//! Pass 2 answers whatever it is given: broken scripts never make it panic.

mod support;

use xlate_elaborate::Options;

/// A small generator of random numbers (G. Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Words, strings, numbers and single marks, with the space before them.
fn tokens(script: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || "_$@".contains(c);
    let mut tokens = Vec::new();
    let mut rest = script;
    while !rest.is_empty() {
        let text = rest.trim_start();
        let space = rest.len() - text.len();
        let first = text.chars().next();
        let length = match first {
            Some('"') => text[1..].find('"').map_or(text.len(), |at| at + 2),
            Some(c) if word(c) => text.find(|c: char| !word(c)).unwrap_or(text.len()),
            Some(c) => c.len_utf8(),
            None => 0,
        };
        let (token, others) = rest.split_at(space + length);
        tokens.push(token);
        rest = others;
    }
    tokens
}

#[test]
fn scripts_with_changed_tokens() {
    let mut random = Random(0x5eed_0001);
    let mut scripts = support::scripts("tests/corpus");
    scripts.extend(support::scripts("bench/scripts"));
    // Words that change what others mean.
    let strangers =
        [" global", " x", " 1", " \"s\"", " next", " a[1]", " <<< 1", " f(", ")", "{", "}", " *"];
    for (name, script) in &scripts {
        let tokens = tokens(script);
        for _ in 0..8 {
            let mut changed = tokens.clone();
            for _ in 0..1 + random.below(3) {
                let (at, other) = (random.below(changed.len()), random.below(changed.len()));
                match random.below(4) {
                    0 if changed.len() > 1 => {
                        changed.remove(at);
                    }
                    1 => changed.insert(at, changed[other]),
                    2 => changed.swap(at, other),
                    _ => changed.insert(at, strangers[random.below(strangers.len())]),
                }
            }
            let changed = changed.concat();
            let options = Options { guru: true, ..Options::default() };
            let outcome = support::elaborate_anyway(&changed, &options);
            // What is printed has to be fit to print, too.
            let _ = (outcome.program.to_string(), xlate_elaborate::listing(&outcome.program));
            assert!(!name.is_empty());
        }
    }
}

#[test]
fn deep_and_wide_scripts() {
    let deep = format!("probe begin {{ println({}1{}) }}", "(-".repeat(5000), ")".repeat(5000));
    let wide = format!("probe begin {{ println(1{}) }}", " + 1".repeat(5000));
    let long = format!("probe begin {{ println(\"\"{}) }}", " . \"a\"".repeat(5000));
    let nested = format!("probe begin {{ {}{} }}", "if (1) {".repeat(3000), "}".repeat(3000));
    let many = format!("probe begin {{ {} }}", "x = x + 1 ".repeat(20000));
    let aliases: String = (0..200).map(|at| format!("probe a{at} = a{} {{ }}\n", at + 1)).collect();
    let chain = format!("{aliases}\nprobe a0 {{ println(1) }}");
    let braces = format!("probe {}begin {{ }}", "{begin,end}.".repeat(40));
    for script in [deep, wide, long, nested, many, chain, braces] {
        let outcome = support::elaborate_anyway(&script, &Options::default());
        let _ = outcome.program.to_string();
    }
}
