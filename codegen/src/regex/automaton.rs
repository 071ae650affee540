//! Deterministic automata by way of nondeterministic ones: Thompson's construction and the subset
//! construction (A. Aho, R. Sethi, J. Ullman, "Compilers", 1986, section 3.7).

use std::collections::BTreeMap;

use super::parse::{Bytes, Syntax};

/// The state from which there is no match any more.
const FAILED: usize = 0;
/// The state of a match; it is not left.
pub(super) const MATCHED: usize = 1;
/// More states than that make no sense in a kernel module.
const MOST_STATES: usize = 2000;

/// A deterministic automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Automaton {
    /// The class of each byte: bytes of one class are never told apart.
    pub(super) class_of: Vec<u8>,
    /// How many there are.
    pub(super) classes: usize,
    /// For each state, the next one by class, and at the end of the text.
    pub(super) next: Vec<Vec<usize>>,
    /// The first state.
    pub(super) start: usize,
}

/// A step of the nondeterministic automaton.
#[derive(Clone, Debug)]
enum Step {
    Byte(Box<Bytes>, usize),
    Fork(usize, usize),
    AtStart(usize),
    AtEnd(usize),
    Match,
}

impl Automaton {
    /// The automaton that finds an expression anywhere in a text.
    pub(super) fn of(syntax: &Syntax) -> Result<Automaton, String> {
        let mut steps = vec![Step::Match];
        let entry = build(syntax, 0, &mut steps);
        let class_of = classes(&steps);
        let classes = class_of.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let mut subsets = Subsets { steps, entry, numbers: BTreeMap::new(), lists: Vec::new() };
        let mut next = vec![vec![FAILED; classes + 1], vec![MATCHED; classes + 1]];
        let first = subsets.closure(&[entry], true);
        let start = subsets.number(first);
        let mut done = 0;
        while done < subsets.lists.len() {
            let from = subsets.lists[done].clone();
            let mut row = Vec::with_capacity(classes + 1);
            for class in 0..classes {
                let byte = class_of.iter().position(|&c| usize::from(c) == class).unwrap_or(0);
                row.push(subsets.after(&from, byte));
            }
            row.push(if subsets.matches_at_end(&from) { MATCHED } else { FAILED });
            next.push(row);
            done += 1;
            if next.len() > MOST_STATES {
                return Err(format!("it needs more than {MOST_STATES} states"));
            }
        }
        Ok(Automaton { class_of, classes, next, start })
    }
}

/// Adds the steps of an expression that go on to `then`; gives the first.
fn build(syntax: &Syntax, then: usize, steps: &mut Vec<Step>) -> usize {
    let push = |step: Step, steps: &mut Vec<Step>| {
        steps.push(step);
        steps.len() - 1
    };
    match syntax {
        Syntax::Empty => then,
        Syntax::Byte(set) => push(Step::Byte(set.clone(), then), steps),
        Syntax::Start => push(Step::AtStart(then), steps),
        Syntax::End => push(Step::AtEnd(then), steps),
        Syntax::Sequence(all) => all.iter().rev().fold(then, |then, part| build(part, then, steps)),
        Syntax::Choice(all) => {
            let firsts: Vec<usize> = all.iter().map(|part| build(part, then, steps)).collect();
            let mut firsts = firsts.into_iter().rev();
            let last = firsts.next().unwrap_or(then);
            firsts.fold(last, |rest, first| push(Step::Fork(first, rest), steps))
        }
        Syntax::Star(inner) => {
            let fork = push(Step::Fork(then, then), steps);
            let first = build(inner, fork, steps);
            steps[fork] = Step::Fork(first, then);
            fork
        }
    }
}

/// Puts bytes into classes by the sets that they belong to.
fn classes(steps: &[Step]) -> Vec<u8> {
    let mut class_of = vec![0_u8; 256];
    let mut known: BTreeMap<Vec<bool>, u8> = BTreeMap::new();
    for (byte, class) in class_of.iter_mut().enumerate() {
        let membership: Vec<bool> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Byte(set, _) => Some(set[byte]),
                _ => None,
            })
            .collect();
        // At most 256 bytes, so at most 256 classes.
        let number = u8::try_from(known.len()).unwrap_or(u8::MAX);
        *class = *known.entry(membership).or_insert(number);
    }
    class_of
}

struct Subsets {
    steps: Vec<Step>,
    entry: usize,
    numbers: BTreeMap<Vec<usize>, usize>,
    lists: Vec<Vec<usize>>,
}

impl Subsets {
    /// The steps that wait for a byte, for the end, or that match, from some steps on.
    fn closure(&self, from: &[usize], at_start: bool) -> Vec<usize> {
        let mut seen = vec![false; self.steps.len()];
        let mut work = from.to_vec();
        let mut waiting = Vec::new();
        while let Some(step) = work.pop() {
            if std::mem::replace(&mut seen[step], true) {
                continue;
            }
            match &self.steps[step] {
                Step::Fork(a, b) => work.extend([*a, *b]),
                Step::AtStart(then) if at_start => work.push(*then),
                Step::AtStart(_) => {}
                Step::Byte(..) | Step::AtEnd(_) | Step::Match => waiting.push(step),
            }
        }
        waiting.sort_unstable();
        waiting
    }

    /// The number of the state for a list of steps.
    fn number(&mut self, list: Vec<usize>) -> usize {
        if list.contains(&0) {
            return MATCHED;
        }
        if list.is_empty() {
            return FAILED;
        }
        if let Some(&number) = self.numbers.get(&list) {
            return number;
        }
        let number = self.lists.len() + 2;
        self.numbers.insert(list.clone(), number);
        self.lists.push(list);
        number
    }

    /// The state after a byte. The expression may begin at any place.
    fn after(&mut self, from: &[usize], byte: usize) -> usize {
        let mut next: Vec<usize> = from
            .iter()
            .filter_map(|&step| match &self.steps[step] {
                Step::Byte(set, then) if set[byte] => Some(*then),
                _ => None,
            })
            .collect();
        next.push(self.entry);
        let list = self.closure(&next, false);
        self.number(list)
    }

    /// Whether the end of the text makes a match.
    fn matches_at_end(&self, from: &[usize]) -> bool {
        let mut seen = vec![false; self.steps.len()];
        let mut work = from.to_vec();
        while let Some(step) = work.pop() {
            if std::mem::replace(&mut seen[step], true) {
                continue;
            }
            match &self.steps[step] {
                Step::Match => return true,
                Step::AtEnd(then) => work.push(*then),
                Step::Fork(a, b) => work.extend([*a, *b]),
                Step::Byte(..) | Step::AtStart(_) => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let automaton =
            Automaton::of(&parse(pattern.as_bytes()).expect("it parses")).expect("it is small");
        let mut state = automaton.start;
        for byte in text.bytes() {
            state = automaton.next[state][usize::from(automaton.class_of[usize::from(byte)])];
        }
        automaton.next[state][automaton.classes] == MATCHED
    }

    #[test]
    fn expressions_match_anywhere_unless_anchored() {
        assert!(matches("b", "abc"));
        assert!(!matches("^b", "abc"));
        assert!(matches("^a", "abc"));
        assert!(matches("c$", "abc"));
        assert!(!matches("b$", "abc"));
        assert!(matches("^abc$", "abc"));
        assert!(matches("", ""));
        assert!(matches("^$", ""));
        assert!(!matches("^$", "x"));
        assert!(matches("x|^a", "ab"));
        assert!(!matches("x|^b", "ab"));
    }

    #[test]
    fn repetitions_and_sets() {
        assert!(matches("^a*b+c?$", "aabb"));
        assert!(!matches("^a*b+c?$", "aacc"));
        assert!(matches("^(ab){2,3}$", "ababab"));
        assert!(!matches("^(ab){2,3}$", "ab"));
        assert!(matches("^x{2,}$", "xxxx"));
        assert!(matches("^[[:alpha:]_][^0-9]*$", "_abc"));
        assert!(!matches("^[^]a]$", "]"));
        assert!(matches("^[a-]$", "-"));
        assert!(matches("^a\\.b$", "a.b"));
        assert!(!matches("^a\\.b$", "axb"));
        assert!(matches("^(a|b)*c.d$", "ababcxd"));
    }

    #[test]
    fn malformed_ones_say_why() {
        for (pattern, message) in [
            ("(a", "unmatched ("),
            ("a)", "unmatched )"),
            ("*a", "nothing to repeat before *"),
            ("[a", "unmatched ["),
            ("a{2", "unmatched {"),
            ("a{3,2}", "{} counts downwards"),
            ("[b-a]", "a range counts downwards"),
            ("[[:nope:]]", "no class [:nope:]"),
            ("a\\", "\\ at the end"),
            ("a{256}", "more than 255 repetitions"),
        ] {
            assert_eq!(parse(pattern.as_bytes()), Err(message.to_owned()), "{pattern}");
        }
        let exploding = parse(b"(a|b)*a(a|b){20}").expect("it parses");
        assert_eq!(
            Automaton::of(&exploding).expect_err("too many"),
            "it needs more than 2000 states"
        );
    }

    /// Before they take all memory.
    #[test]
    fn repeats_within_repeats_are_limited() {
        let grouped = format!("{}a{}", "(".repeat(9), "){255}".repeat(9));
        let doubled = format!("a{}", "+".repeat(60));
        let in_a_row = "(abcdefgh){255}".repeat(30);
        for pattern in [grouped, doubled, in_a_row, "((a{255}){255}){0}".to_owned()] {
            let message = parse(pattern.as_bytes()).expect_err("it is too long");
            assert_eq!(message, "its repeats make more than 20000 parts", "{pattern}");
        }
        let long = parse("(abcdefgh){200}".as_bytes()).expect("it is short enough");
        assert!(Automaton::of(&long).is_ok());
    }
}
