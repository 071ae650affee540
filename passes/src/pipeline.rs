//! Which passes run, in which order.
//!
//! The text form is a list of passes with commas between; `(a,b)*` runs a group again as long as it
//! changes something.

use std::fmt;

use crate::registry::{PASSES, Pass, find};

/// Most rounds of a group: enough for any program met, and a bound for passes that undo each other.
const MOST_ROUNDS: u32 = 16;

/// One step of a pipeline.
#[derive(Clone, Debug)]
pub enum Step {
    /// A pass.
    Pass(&'static Pass),
    /// Steps that are repeated until they change nothing, at most this many times.
    Group(Vec<Step>, u32),
}

/// A sequence of passes.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// Why a text is not a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PipelineError {
    /// There is no pass of this name; the names that are nearest to it.
    UnknownPass(String, Vec<&'static str>),
    /// The parentheses do not match, or `)` is not followed by `*`.
    Parentheses,
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineError::UnknownPass(name, near) => {
                write!(f, "there is no pass `{name}`")?;
                if !near.is_empty() {
                    write!(f, " (did you mean {}?)", near.join(" or "))?;
                }
                Ok(())
            }
            PipelineError::Parentheses => f.write_str("a group of passes looks like `(a,b)*`"),
        }
    }
}

impl std::error::Error for PipelineError {}

/// What runs when nothing else is asked for.
///
/// Functions are merged before they are inlined, so that calls are counted right. The large group
/// cleans up and lets each finding make others. What comes after it depends on clean bodies (equal
/// keys are one value, equal bodies look equal), and the last line on everything before: which
/// handlers there are decides what overlaps, and where accesses stand decides where locks go.
const DEFAULT: &str = "duplicate-functions,\
    (simplify-cfg,copy-propagation,sccp,simplify-instructions,fold-formats,gvn,ranges,dead-stores,dead-code,\
    global-constness,unused-globals,inline,unused-functions)*,\
    loop-invariants,updates,merge-tails,(simplify-cfg,copy-propagation,gvn,dead-code)*,\
    (duplicate-functions,similar-functions)*,gvn,duplicate-handlers,empty-handlers,unused-functions,unused-globals,\
    merge-prints,dead-code,string-bounds,fetches,dead-code,disciplines,lock-sets,simplify-cfg";

impl Pipeline {
    /// No passes: what `-O0` runs.
    pub fn none() -> Pipeline {
        Pipeline::default()
    }

    /// What runs when nothing else is asked for.
    ///
    /// # Panics
    /// Never: a test reads the text.
    pub fn standard() -> Pipeline {
        Pipeline::parse(DEFAULT).expect("internal error: the standard pipeline does not read")
    }

    /// The same without a pass, wherever it stands.
    pub fn without(&self, name: &str) -> Pipeline {
        Pipeline { steps: steps_without(&self.steps, name) }
    }

    /// Reads the text form.
    ///
    /// # Errors
    /// If a name is not that of a pass, or parentheses do not match.
    pub fn parse(text: &str) -> Result<Pipeline, PipelineError> {
        let mut stack: Vec<Vec<Step>> = vec![Vec::new()];
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match first {
                ',' | ' ' => rest = &rest[1..],
                '(' => {
                    stack.push(Vec::new());
                    rest = &rest[1..];
                }
                ')' => {
                    rest = rest.strip_prefix(")*").ok_or(PipelineError::Parentheses)?;
                    let group = stack.pop().ok_or(PipelineError::Parentheses)?;
                    let outer = stack.last_mut().ok_or(PipelineError::Parentheses)?;
                    outer.push(Step::Group(group, MOST_ROUNDS));
                }
                _ => {
                    let end = rest.find([',', ' ', '(', ')']).unwrap_or(rest.len());
                    let name = &rest[..end];
                    let pass = find(name).ok_or_else(|| unknown(name))?;
                    if let Some(steps) = stack.last_mut() {
                        steps.push(Step::Pass(pass));
                    }
                    rest = &rest[end..];
                }
            }
        }
        match (stack.pop(), stack.is_empty()) {
            (Some(steps), true) => Ok(Pipeline { steps }),
            _ => Err(PipelineError::Parentheses),
        }
    }
}

fn steps_without(steps: &[Step], name: &str) -> Vec<Step> {
    let rest = steps.iter().filter_map(|step| match step {
        Step::Pass(pass) => (pass.name != name).then(|| step.clone()),
        Step::Group(steps, most) => Some(Step::Group(steps_without(steps, name), *most)),
    });
    rest.collect()
}

/// The error for a name, with passes that share a word with it.
fn unknown(name: &str) -> PipelineError {
    let shares_word = |pass: &&Pass| {
        pass.name
            .split('-')
            .any(|word| name.split('-').any(|other| !other.is_empty() && word.starts_with(other)))
    };
    let near = PASSES.iter().filter(shares_word).map(|pass| pass.name).collect();
    PipelineError::UnknownPass(name.to_owned(), near)
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Pass(pass) => f.write_str(pass.name),
            Step::Group(steps, _) => write!(f, "({})*", join(steps)),
        }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(&self.steps))
    }
}

fn join(steps: &[Step]) -> String {
    steps.iter().map(|step| step.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_reads_back() {
        for text in ["", "sccp", "(sccp,(dead-code)*)*,simplify-cfg", DEFAULT] {
            let pipeline = Pipeline::parse(text).expect("a pipeline");
            assert_eq!(pipeline.to_string(), text);
        }
        assert_eq!(Pipeline::standard().to_string(), DEFAULT);
    }

    #[test]
    fn a_pass_can_be_left_out() {
        let pipeline = Pipeline::parse("sccp,(gvn,(sccp)*,dead-code)*,sccp").expect("a pipeline");
        assert_eq!(pipeline.without("sccp").to_string(), "(gvn,()*,dead-code)*");
        assert_eq!(pipeline.without("inline").to_string(), pipeline.to_string());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| Pipeline::parse(text).expect_err("wrong").to_string();
        assert_eq!(error("sccp,code"), "there is no pass `code` (did you mean dead-code?)");
        assert_eq!(error("(sccp"), "a group of passes looks like `(a,b)*`");
        assert_eq!(error("(sccp)"), "a group of passes looks like `(a,b)*`");
        assert_eq!(error("sccp)*"), "a group of passes looks like `(a,b)*`");
    }
}
