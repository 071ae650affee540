//! Control-flow graphs as Graphviz text, for `--emit=cfg`.

use std::fmt::{self, Write};

use xlate_ir::instructions::Terminator;
use xlate_ir::module::{Body, FunctionCode, Module};
use xlate_ir::text;

/// The control-flow graphs of all functions and handlers, one cluster each, in the order of the
/// module. A node is a block with its text; the edges of a branch say which way they go.
pub fn control_flow(module: &Module) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_graph(module, &mut out);
    out
}

fn write_graph(module: &Module, out: &mut String) -> fmt::Result {
    writeln!(out, "digraph xlate {{")?;
    writeln!(out, "  node [shape=box, fontname=monospace];")?;
    for (function, data) in module.functions.iter() {
        if let FunctionCode::Body(body) = &data.code {
            write_cluster(module, body, &function.to_string(), &format!("@{}", data.name), out)?;
        }
    }
    for (handler, data) in module.handlers.iter() {
        let mut label = format!("@{handler}");
        for probe in module.probes.iter().filter(|probe| probe.handler == handler) {
            write!(label, "\n{}", probe.name)?;
        }
        write_cluster(module, &data.body, &handler.to_string(), &label, out)?;
    }
    writeln!(out, "}}")
}

fn write_cluster(
    module: &Module,
    body: &Body,
    prefix: &str,
    label: &str,
    out: &mut String,
) -> fmt::Result {
    writeln!(out, "  subgraph cluster_{prefix} {{")?;
    writeln!(out, "    label=\"{}\";", escape(label, "\\n"))?;
    for &block in &body.layout {
        let text = text::print_block(module, body, block);
        writeln!(out, "    {prefix}_{block} [label=\"{}\"];", escape(&text, "\\l"))?;
    }
    for &block in &body.layout {
        let terminator = &body.blocks[block].terminator;
        for (call, way) in terminator.successors().zip(ways(terminator)) {
            write!(out, "    {prefix}_{block} -> {prefix}_{}", call.block)?;
            writeln!(
                out,
                "{};",
                if way.is_empty() { way.into() } else { format!(" [label={way}]") }
            )?;
        }
    }
    writeln!(out, "  }}")
}

/// What the edges to the successors of a terminator are called.
pub(crate) fn ways(terminator: &Terminator) -> [&'static str; 2] {
    match terminator {
        Terminator::Branch(..) => ["true", "false"],
        Terminator::Try(..) => ["normal", "raise"],
        Terminator::Raise { .. } => ["raise", ""],
        Terminator::Jump(_) | Terminator::Return(_) | Terminator::Unreachable => ["", ""],
    }
}

/// The inside of a quoted Graphviz string, with `newline` for each line end.
fn escape(text: &str, newline: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_two_named_edges() {
        let module = text::parse(
            "file f0 \"a.stp\"\n\
             probe timer.jiffies(1) -> @h0\n\
             handler @h0 {\n\
             b0:\n  v0 = ctx.cpu: long\n  branch v0, b1, b2\n\
             b1:\n  print \"a\\\"\\n\"\n  jump b2\n\
             b2:\n  ret\n}\n",
        )
        .expect("the text is a module");
        insta::assert_snapshot!(control_flow(&module), @r#"
        digraph xlate {
          node [shape=box, fontname=monospace];
          subgraph cluster_h0 {
            label="@h0\ntimer.jiffies(1)";
            h0_b0 [label="b0:\l  v0 = ctx.cpu: long\l  branch v0, b1, b2\l"];
            h0_b1 [label="b1:\l  print \"a\\\"\\n\"\l  jump b2\l"];
            h0_b2 [label="b2:\l  ret\l"];
            h0_b0 -> h0_b1 [label=true];
            h0_b0 -> h0_b2 [label=false];
            h0_b1 -> h0_b2;
          }
        }
        "#);
    }
}
