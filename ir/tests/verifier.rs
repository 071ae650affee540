//! The verifier, rule by rule, on the files of `filetests/verifier`.
//!
//! A file holds a beginning that all of its cases share and cases, each after a line `; case NAME`.
//! A case expects the complaints of its lines `; error: …`, all of them and in order, or none if it
//! has a line `; ok`.

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
