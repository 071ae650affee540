//! The verifier, rule by rule, on the files of `filetests/verifier`.
//!
//! A file holds a beginning that all of its cases share and cases, each after a line `; case NAME`.
//! A case expects the complaints of its lines `; error: …`, all of them and in order, or none if it
//! has a line `; ok`.

use xlate_ir::entities::{Block, Entity, Function, Global, Handler, Inst, Value};
use xlate_ir::instructions::{Op, Place};
use xlate_ir::module::{Body, FunctionCode, Module};
use xlate_ir::text::parse;
use xlate_ir::verifier::verify;

fn run(file: &str) {
    let path = format!("{}/filetests/verifier/{file}.xir", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let mut cases = text.split("; case ");
    let shared = cases.next().unwrap_or_default();
    let mut count = 0;
    for case in cases {
        let (name, body) = case.split_once('\n').expect("a case has a body");
        let mut expected: Vec<&str> =
            body.lines().filter_map(|line| line.strip_prefix("; error: ")).collect();
        expected.sort();
        assert_ne!(expected.is_empty(), body.contains("; error"), "{file}: {name}");
        assert_eq!(expected.is_empty(), body.lines().any(|line| line == "; ok"), "{file}: {name}");
        let module = parse(&format!("{shared}{body}"))
            .unwrap_or_else(|error| panic!("{file}: {name}: {error}"));
        let errors = verify(&module).err().unwrap_or_default();
        let mut found: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        found.sort();
        assert_eq!(found, expected, "{file}: {name}");
        count += 1;
    }
    assert!(count > 1, "{file} has cases");
}

macro_rules! files {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            run(stringify!($name));
        }
    )* };
}

files! { tables structure operands dominance iterators locks disciplines }

#[test]
fn every_file_is_run() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/filetests/verifier");
    assert_eq!(std::fs::read_dir(path).expect("the folder is there").count(), 7);
}

/// The string literals of a source file that are sentences, its comments and tests left out.
fn sentences(source: &str) -> Vec<String> {
    let code: String = source
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect();
    // Every second piece is a literal: none has a quote in it.
    let literals = code.split('"').skip(1).step_by(2);
    literals.filter(|text| text.contains(' ')).map(str::to_owned).collect()
}

/// Whether a message is of the form of a sentence, whose `{…}` stand for anything.
fn is_of_form(message: &str, sentence: &str) -> bool {
    let mut rest = message;
    let fixed = sentence.split('{').enumerate().map(|(n, part)| match n {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, fixed)| fixed),
    });
    for part in fixed {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// A module for [`by_hand`]; what its entities are called is known there.
const SOUND: &str = "global @n: long serial
global @m: long serial
function @f(long) {
b0(v0: long):
  ret
}
function @g(a: long) = c \"\" reads(@n)
probe timer.profile -> @h0
handler @h0 {
b0:
  v0 = load @n: long
  call @f(v0)
  jump b1
b1:
  ret
}
";

/// What a module is made wrong with.
type Damage = fn(&mut Module);

/// Modules that no text can express, each with the complaint about it.
const BY_HAND: &[(Damage, &str)] = &[
    (|m| m.globals[global(1)].name = "n".into(), "global @n: there are two of this name"),
    (|m| m.functions[function(1)].name = "f".into(), "function @f: there are two of this name"),
    (
        |m| {
            if let FunctionCode::C { names, .. } = &mut m.functions[function(1)].code {
                names.clear();
            }
        },
        "function @g: the parameters of a C function have names",
    ),
    (
        |m| {
            if let FunctionCode::C { effects, .. } = &mut m.functions[function(1)].code {
                effects.writes.insert(global(9));
            }
        },
        "function @g: its effects are on a global that there is not",
    ),
    (
        |m| m.probes[0].handler = Handler::from_index(9),
        "probe timer.profile: its handler does not exist",
    ),
    (
        |m| body(m).layout.push(Block::from_index(1)),
        "handler @h0, b1: a block stands in the layout once",
    ),
    (|m| body(m).layout.truncate(1), "handler @h0, b0, `jump b1`: b1 is not in the layout"),
    (
        |m| body(m).blocks[Block::from_index(1)].params.push(Value::from_index(0)),
        "handler @h0, b1: v0 is defined more than once",
    ),
    (
        |m| {
            let first = body(m).blocks[Block::from_index(0)].insts[0];
            body(m).insts[Inst::from_index(1)].result = body(m).insts[first].result;
        },
        "handler @h0, b0, `v0 = call @f(v0): long`: v0 is defined more than once",
    ),
    (
        |m| {
            let last = body(m).blocks[Block::from_index(0)].insts[1];
            body(m).blocks[Block::from_index(1)].insts.push(last);
        },
        "handler @h0, b1, `call @f(v0)`: an instruction stands in one block, once",
    ),
    (
        |m| {
            body(m).insts[Inst::from_index(0)].op =
                Op::Load(Place { global: global(9), keys: Vec::new() })
        },
        "handler @h0, b0, `v0 = load @\"?g9\": long`: there is no such global",
    ),
    (
        |m| body(m).insts[Inst::from_index(1)].op = Op::Call(function(9), Vec::new()),
        "handler @h0, b0, `call @\"?fn9\"()`: there is no such function",
    ),
    (
        |m| body(m).insts[Inst::from_index(1)].op = Op::Unlock(Vec::new()),
        "handler @h0, b0, `unlock `: it releases nothing",
    ),
];

fn global(index: usize) -> Global {
    Global::from_index(index)
}

fn function(index: usize) -> Function {
    Function::from_index(index)
}

fn body(module: &mut Module) -> &mut Body {
    &mut module.handlers[Handler::from_index(0)].body
}

#[test]
fn modules_that_no_text_expresses_are_refused() {
    let sound = parse(SOUND).expect("a module");
    assert_eq!(verify(&sound), Ok(()));
    for (damage, expected) in BY_HAND {
        let mut module = sound.clone();
        damage(&mut module);
        let errors = verify(&module).expect_err(expected);
        let found: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        assert!(found.iter().any(|error| error == expected), "{expected}: {found:?}");
    }
}

/// Rules are sentences in the verifier's source: each is broken by some case of some file.
#[test]
fn every_rule_has_a_case_that_breaks_it() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).expect("a file");
    let texts = |folder: &str| {
        let mut paths: Vec<_> = std::fs::read_dir(format!("{root}{folder}"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        paths.into_iter().map(read).collect::<Vec<_>>()
    };
    let cases = texts("filetests/verifier").concat();
    let in_files = cases.lines().filter_map(|line| line.strip_prefix("; error: "));
    let errors: Vec<&str> = in_files.chain(BY_HAND.iter().map(|(_, error)| *error)).collect();
    let mut sources = texts("src/verifier");
    sources.push(read(format!("{root}src/sharing.rs").into()));
    let rules: Vec<String> = sources.iter().flat_map(|source| sentences(source)).collect();
    assert!(rules.len() > 50, "the rules are found: {rules:#?}");
    let untested: Vec<&String> =
        rules.iter().filter(|rule| !errors.iter().any(|error| is_of_form(error, rule))).collect();
    assert!(untested.is_empty(), "rules that no case breaks: {untested:#?}");
}
