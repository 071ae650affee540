//! Which optimization passes run, and what is shown of them.

use xlate_grammar::SourceMap;
use xlate_ir::module::Module;
use xlate_ir::text;
use xlate_passes::manager::{self, Observer, Report};
use xlate_passes::pipeline::Pipeline;
use xlate_passes::registry::{PASSES, Pass};
use xlate_report::explore::Recorder;
use xlate_report::measure::Measures;
use xlate_report::remarks::Filter;

use crate::Failure;
use crate::cli::Options;
use crate::console::Console;

/// Runs the optimization passes that the options ask for, with a recorder if there is one, and prints
/// what the options ask to see of them.
/// `sources` has the scripts.
///
/// # Errors
/// If an option names a pass that there is not, or if a pass breaks the IR, which is an internal
/// error.
pub fn optimize(
    options: &Options,
    console: Console,
    sources: &SourceMap,
    recorder: Option<&mut Recorder>,
    module: &mut Module,
) -> Result<Report, Failure> {
    let pipeline = pipeline(options)?;
    let wants_remarks = options.remarks.is_some() || recorder.is_some();
    let mut observer = Watcher { options, console, before: None, recorder };
    let mut how = manager::Options {
        bisect_limit: options.opt_bisect_limit,
        remarks: wants_remarks,
        ..manager::Options::default()
    };
    how.verify_each |= options.verify_each;
    let before = options.stats.then(|| Measures::of(module));
    let report = manager::run(module, &pipeline, &how, &mut observer)
        .map_err(|error| Failure::Internal(error.to_string()))?;
    console.text(&xlate_report::bisect::steps(&report.bisect));
    if let Some(filter) = remarks(options)? {
        let script = |name: &str| text_of(sources, name);
        console.text(&filter.render(&report.remarks, module, script, console.has_colour()));
    }
    if let Some(before) = before {
        console.text(&xlate_report::stats::table(&report, &before, &Measures::of(module)));
    }
    if options.time_passes {
        console.text(&xlate_report::time::passes(&report));
    }
    Ok(report)
}

/// The text of a script that has been read.
pub(crate) fn text_of<'s>(sources: &'s SourceMap, name: &str) -> Option<&'s str> {
    sources.files().find(|file| sources.name(*file) == name).map(|file| sources.shown(file))
}

/// Which remarks are to be printed, if any.
///
/// # Errors
/// If a word is not one of a filter.
fn remarks(options: &Options) -> Result<Option<Filter>, Failure> {
    let filter = options.remarks.as_deref().map(Filter::parse).transpose();
    filter.map_err(|error| Failure::Message(format!("--remarks: {error}")))
}

/// The passes to run; checks all names of passes in the options.
///
/// # Errors
/// If there is no pass of such a name.
pub fn pipeline(options: &Options) -> Result<Pipeline, Failure> {
    remarks(options)?;
    for (option, names) in [
        ("--print-before", &options.print_before),
        ("--print-after", &options.print_after),
        ("--print-changed", &options.print_changed),
    ] {
        for name in names.iter().filter(|name| name.as_str() != "all") {
            parse(option, name)?;
        }
    }
    match &options.passes {
        Some(list) => parse("--passes", list),
        None if options.optimize == 0 => Ok(Pipeline::none()),
        None => Ok(Pipeline::standard()),
    }
}

/// The passes that an option names.
fn parse(option: &str, list: &str) -> Result<Pipeline, Failure> {
    let explained = |problem: String| {
        Failure::Message(format!("{problem}; --passes without a list describes all passes"))
    };
    let pipeline = Pipeline::parse(list).map_err(|error| explained(error.to_string()))?;
    if pipeline.to_string().is_empty() {
        return Err(explained(format!("{option}={list} names no pass")));
    }
    Ok(pipeline)
}

/// All passes with what they do, and the order in which they run by default.
pub fn describe() -> String {
    let width = PASSES.iter().map(|pass| pass.name.len()).max().unwrap_or(0);
    let rows = PASSES.iter().map(|pass| format!("  {:width$}  {}\n", pass.name, pass.description));
    format!(
        "Passes, for --passes=, --print-before= and --print-after=:\n{}\n\
         By default: --passes='{}', where (…)* repeats passes until nothing changes.\n",
        rows.collect::<String>(),
        Pipeline::standard(),
    )
}

/// Prints the IR around passes, and records it for `--explore`.
struct Watcher<'o> {
    options: &'o Options,
    console: Console,
    /// The IR before the pass that runs, if its changes are to be shown.
    before: Option<String>,
    recorder: Option<&'o mut Recorder>,
}

impl Observer for Watcher<'_> {
    fn before(&mut self, pass: &Pass, module: &Module) {
        if names(&self.options.print_before, pass) {
            self.print(&format!("; before {}", pass.name), &text::print(module));
        }
        if names(&self.options.print_changed, pass) {
            self.before = Some(text::print(module));
        }
    }

    fn after(&mut self, pass: &Pass, module: &Module, changed: bool) {
        if names(&self.options.print_after, pass) {
            self.print(&format!("; after {}", pass.name), &text::print(module));
        }
        if let Some(before) = self.before.take().filter(|_| changed) {
            let after = text::print(module);
            let changes = xlate_report::diff::lines(&before, &after, self.console.has_colour());
            self.print(&format!("; changed by {}", pass.name), &changes);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.after(pass, module, changed);
        }
    }
}

impl Watcher<'_> {
    fn print(&self, title: &str, text: &str) {
        self.console.line(title);
        self.console.text(text);
    }
}

fn names(wanted: &[String], pass: &Pass) -> bool {
    wanted.iter().any(|name| name == "all" || name == pass.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn chosen(words: &[&str]) -> Result<String, Failure> {
        let options = Options::try_parse_from([&["xlate"], words].concat()).expect("good options");
        pipeline(&options).map(|pipeline| pipeline.to_string())
    }

    #[test]
    fn options_choose_the_passes() {
        assert_eq!(chosen(&[]), Ok(Pipeline::standard().to_string()));
        assert_eq!(chosen(&["-O0"]), Ok(String::new()));
        assert_eq!(chosen(&["-O0", "--passes=sccp,dead-code"]), Ok("sccp,dead-code".to_owned()));
    }

    #[test]
    fn unknown_passes_are_refused_wherever_they_are_named() {
        let message = "there is no pass `spcc`; --passes without a list describes all passes";
        for option in
            ["--passes=spcc", "--print-after=spcc", "--print-before=spcc", "--print-changed=spcc"]
        {
            assert_eq!(chosen(&[option]), Err(Failure::Message(message.to_owned())));
        }
        assert!(chosen(&["--print-after=all"]).is_ok());
        assert!(chosen(&["--print-after=sccp,gvn"]).is_ok());
    }

    #[test]
    fn a_list_without_a_pass_is_refused() {
        for option in ["--passes=,,", "--print-before=", "--print-after=gvn,", "--print-changed= "]
        {
            match chosen(&[option]) {
                Err(Failure::Message(message)) => {
                    assert!(message.contains(" names no pass; --passes"), "{message}");
                }
                other => panic!("{option}: {other:?}"),
            }
        }
        assert!(Options::try_parse_from(["xlate", "-O2"]).is_err());
    }

    #[test]
    fn every_pass_is_described() {
        let text = describe();
        assert!(PASSES.iter().all(|pass| text.contains(pass.description)), "{text}");
    }
}
