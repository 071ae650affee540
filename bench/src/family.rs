//! Scripts with families of handlers, made from a pattern, and C with and without its tables.

/// The script that a pattern makes with so many members: what stands between its lines `//: each` and
/// `//: once` is repeated, with 1001, 1002 and so on in place of 1000.
pub(crate) fn script(pattern: &str, members: usize) -> String {
    let (head, rest) = pattern.split_once("//: each\n").unwrap_or((pattern, ""));
    let (member, tail) = rest.split_once("//: once\n").unwrap_or((rest, ""));
    let body: String =
        (1..=members).map(|n| member.replace("1000", &(1000 + n).to_string())).collect();
    format!("{head}{body}{tail}")
}

/// The bytes of C outside of tables with initial values, and within.
pub(crate) fn code_and_tables(c: &str) -> (usize, usize) {
    let (mut code, mut tables, mut in_table) = (0, 0, false);
    for line in c.lines() {
        in_table |= line.starts_with("static ") && line.ends_with("[] = {");
        *(if in_table { &mut tables } else { &mut code }) += line.len() + 1;
        in_table &= line != "};";
    }
    (code, tables)
}
