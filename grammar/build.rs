//! Generates the parser from `src/stap.lalrpop`.

fn main() {
    println!("cargo:rerun-if-changed=src/stap.lalrpop");
    let generated =
        lalrpop::Configuration::new().emit_rerun_directives(false).process_current_dir();
    if let Err(error) = generated {
        panic!("the grammar src/stap.lalrpop cannot be generated: {error}");
    }
}
