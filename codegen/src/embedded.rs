//! Functions whose body is C of the script, and what such C may use: `STAP_ARG_x`, `STAP_RETVALUE`,
//! `STAP_ERROR`, `STAP_RETURN`, `STAP_PRINTF`, `STAP_GLOBAL_GET_x`, `STAP_GLOBAL_SET_x`.

use std::fmt::Write as _;

use xlate_ir::effects::Effects;
use xlate_ir::entities::{Function, Global};
use xlate_ir::types::{ElementType, Type};

use crate::body::{Shared, Signature, is_words};
use crate::c::expr::has_word;
use crate::c::literal;
use crate::c::verbatim::laid_out;
use crate::names::identifier;
use crate::needs::Needs;
use crate::repr::Repr;

/// Emits a function in C of the script; gives its signature and its text from the brace on, with the
/// macros that it needs ahead of the whole.
pub(crate) fn emit(
    shared: &Shared,
    needs: &mut Needs,
    function: Function,
    text: &str,
    names: &[String],
    effects: &Effects,
) -> (Signature, String, String) {
    needs.headers.extend(["embedded.h", "strings.h", "output.h"]);
    if has_word(text, "STAP_ERROR") {
        needs.error_text = true;
    }
    let data = &shared.facts.module.functions[function];
    let mut params = Vec::new();
    let mut start = String::new();
    let returns_text = data.result.is_some_and(Type::is_str);
    if returns_text {
        params.push(("struct xl_string *".to_owned(), "ret".to_owned()));
    }
    for (name, ty) in names.iter().zip(&data.params) {
        let name = identifier(name);
        if ty.is_str() {
            let view = format!("text_of_{name}");
            let _ = writeln!(start, "\tchar *STAP_ARG_{name} __maybe_unused = (char *){view}.s;");
            params.push(("struct xl_str".to_owned(), view));
        } else {
            params.push(("s64".to_owned(), format!("STAP_ARG_{name}")));
        }
    }
    let place = literal::string(shared.facts.position(data.pos).as_bytes());
    let _ = writeln!(start, "\tconst char *xl_where __maybe_unused = {place};");
    let (kind, end) = match data.result {
        None => ("VOID", ""),
        Some(Type::Str(_)) => {
            start.push_str("\n\tret->s[0] = 0;\n");
            ("STR", "\treturn xl_str_end(ret);\n")
        }
        Some(_) => {
            start.push_str("\ts64 STAP_RETVALUE = 0;\n");
            ("LONG", "\treturn STAP_RETVALUE;\n")
        }
    };
    if !returns_text {
        start.push('\n');
    }
    let mut macros = String::from("#undef STAP_RETVALUE\n#undef STAP_RETURN\n");
    if returns_text {
        macros.push_str("#define STAP_RETVALUE (ret->s)\n");
    }
    let _ = writeln!(macros, "#define STAP_RETURN STAP_RETURN_{kind}");
    for global in effects.reads.union(&effects.writes) {
        if has_word(text, &format!("STAP_GLOBAL_GET_{}", shared.facts.module.globals[global].name))
        {
            macros.push_str(&getter(shared, global));
        }
        if has_word(text, &format!("STAP_GLOBAL_SET_{}", shared.facts.module.globals[global].name))
        {
            macros.push_str(&setter(shared, global));
        }
    }
    let result = match data.result.map(Repr::of) {
        None => "void",
        _ if returns_text => "struct xl_str",
        _ => "s64",
    };
    let signature = Signature {
        result: result.to_owned(),
        name: shared.names.function(function).to_owned(),
        params,
    };
    let body =
        format!("{{\n{start}\t{{\n{}\n\t}}\nout: __maybe_unused;\n{end}}}\n", laid_out(text, 1));
    (signature, macros, body)
}

/// Names of the macro's parameters for an array's keys, and the address of the key that they make.
fn key(shared: &Shared, global: Global) -> (Vec<String>, String) {
    let data = &shared.facts.module.globals[global];
    let name = shared.names.global(global);
    let params: Vec<String> = (0..data.keys.len()).map(|n| format!("k{n}_")).collect();
    let fields: Vec<String> = params
        .iter()
        .zip(&data.keys)
        .map(|(param, &ty)| match Repr::of(ty) {
            Repr::Long | Repr::Walk => format!("({param})"),
            Repr::View => format!("xl_str_c({param})"),
            Repr::Name => format!("xl_name(xl_str_c({param}))"),
        })
        .collect();
    let kind = if is_words(&data.keys) { "key" } else { "lookup" };
    (params, format!("&(struct {name}_{kind}){{ {} }}", fields.join(", ")))
}

fn getter(shared: &Shared, global: Global) -> String {
    let data = &shared.facts.module.globals[global];
    let name = shared.names.global(global);
    let (params, key) = key(shared, global);
    let is_long = data.element == ElementType::Long;
    let value = match (data.is_array(), is_long) {
        (false, true) => name.to_owned(),
        (false, false) => format!("(({name}).s)"),
        (true, true) => format!("xl_value({name}_find({key}))"),
        (true, false) => format!("(xl_value_str({name}_find({key})).s)"),
    };
    let params = params.join(", ");
    format!(
        "#undef STAP_GLOBAL_GET_{0}\n#define STAP_GLOBAL_GET_{0}({params}) {value}\n",
        data.name
    )
}

fn setter(shared: &Shared, global: Global) -> String {
    let data = &shared.facts.module.globals[global];
    let name = shared.names.global(global);
    let (mut params, key) = key(shared, global);
    params.push("value_".to_owned());
    let is_long = data.element == ElementType::Long;
    let assign = match (data.is_array(), is_long) {
        (false, true) => format!("({name} = (value_))"),
        (false, false) => format!("((void)xl_set(&{name}, xl_str_c(value_)))"),
        (true, true) => format!("xl_put_value({name}_put({key}), value_)"),
        (true, false) => format!("xl_put_str({name}_put({key}), value_)"),
    };
    let params = params.join(", ");
    format!(
        "#undef STAP_GLOBAL_SET_{0}\n#define STAP_GLOBAL_SET_{0}({params}) {assign}\n",
        data.name
    )
}
