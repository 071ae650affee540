//! The options of the `xlate` command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Parser, ValueEnum};

/// What `--help` ends with.
const EXAMPLES: &str = "\
Examples:
  xlate hello.stp                       run a script (as root, on a machine with kernel headers)
  xlate -e 'probe begin { exit() }'     run a script from the command line
  xlate -c 'make -j8' build.stp         run a script while a command runs; target() is its pid
  xlate --emit-c hello.stp              show the C, anywhere, without root, headers or debuginfo
  xlate --emit=ir -O0 hello.stp         show the IR before any optimization
  xlate --print-changed hello.stp -p3   show what each optimization pass changes
  xlate -p4 -m hello -r 6.1.0-44-amd64 hello.stp
                                        build hello.ko for another kernel
  xlate hello.ko                        load and run a module that was built before
  xlate --target=host hello.stp         run it as an ordinary program, without root
  xlate --target=host --events hits.txt hello.stp
                                        fire its probes as a file says

A script can be a program of its own:  #!/usr/bin/env xlate

Limits can be set with -D, as in -D MAXACTION=5000:
  MAXSTRINGLEN=512, MAXMAPENTRIES=2048, MAXACTION=1000, MAXACTION_INTERRUPTIBLE=10000,
  MAXNESTING (from the calls of the script), MAXERRORS=0, MAXSKIPPED=100";

/// Colours of the help; left out where the output is not a terminal.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Translates SystemTap scripts to kernel modules, and runs them.
///
/// A script goes through five passes: 1 parse, 2 elaborate, 3 translate, 4 compile, 5 run.
#[derive(Parser, Clone, Debug)]
#[command(
    name = "xlate",
    version,
    disable_version_flag = true,
    styles = STYLES,
    max_term_width = 100,
    after_help = EXAMPLES,
    override_usage = "xlate [OPTIONS] FILE [ARGUMENT]...\n       \
                      xlate [OPTIONS] - [ARGUMENT]...\n       \
                      xlate [OPTIONS] -e SCRIPT [ARGUMENT]..."
)]
pub struct Options {
    /// The script (`-`: standard input) or a module built before (.ko), then its arguments
    ///
    /// The script's arguments are $1, @1 and so on in it. A module's are parameters, NAME=VALUE.
    #[arg(value_name = "FILE [ARGUMENT]", allow_negative_numbers = true)]
    pub words: Vec<OsString>,

    /// Take the script from the command line
    #[arg(short = 'e', value_name = "SCRIPT", help_heading = "Script")]
    pub script: Option<OsString>,

    /// Look for tapset files in this folder too (may be repeated)
    #[arg(short = 'I', value_name = "DIR", help_heading = "Script")]
    pub include: Vec<PathBuf>,

    /// Set a limit, or a macro for embedded C (may be repeated)
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "Script")]
    pub define: Vec<String>,

    /// Give a global another initial value; without one, it becomes a module parameter
    #[arg(short = 'G', value_name = "NAME[=VALUE]", help_heading = "Script")]
    pub global: Vec<String>,

    /// Guru mode: allow embedded C in the script
    #[arg(short = 'g', help_heading = "Script")]
    pub guru: bool,

    /// Do not print globals that nothing reads when the script ends
    #[arg(long, help_heading = "Script")]
    pub no_global_var_display: bool,

    /// Suppress warnings
    #[arg(short = 'w', help_heading = "Script")]
    pub no_warnings: bool,

    /// Stop after pass N
    ///
    /// With 1 to 3, the result is printed: the script, its globals, functions and probes, the C.
    /// With 4, the path of the module.
    #[arg(
        short = 'p',
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u8).range(1..=5),
        help_heading = "Passes"
    )]
    pub last_pass: u8,

    /// Build for another kernel: a release, or the path of a build tree
    #[arg(short = 'r', value_name = "RELEASE|TREE", help_heading = "Passes")]
    pub release: Option<String>,

    /// Make a kernel module, or an ordinary program that needs neither root nor headers
    ///
    /// A host program runs begin, end, error and timers; other probes are fired by --events.
    #[arg(long, value_name = "TARGET", default_value = "kernel", help_heading = "Passes")]
    pub target: Target,

    /// Name of the module; after -p4 it is left in the current folder
    #[arg(short = 'm', value_name = "NAME", help_heading = "Passes")]
    pub module_name: Option<String>,

    /// A variable for kbuild's make (may be repeated)
    #[arg(short = 'B', value_name = "NAME=VALUE", help_heading = "Passes")]
    pub make_variables: Vec<String>,

    /// Keep the folder that the module is built in
    #[arg(short = 'k', help_heading = "Passes")]
    pub keep: bool,

    /// Say what each pass does and how long it takes; more with -vv
    #[arg(short = 'v', action = ArgAction::Count, help_heading = "Passes")]
    pub verbose: u8,

    /// Write the output to a file
    #[arg(short = 'o', value_name = "FILE", help_heading = "Running")]
    pub output: Option<PathBuf>,

    /// Run a command, and the script until it ends; target() is its process id
    #[arg(short = 'c', value_name = "CMD", help_heading = "Running", conflicts_with = "pid")]
    pub command: Option<String>,

    /// Make target() this process id
    #[arg(short = 'x', value_name = "PID", help_heading = "Running")]
    pub pid: Option<u32>,

    /// End the script after this many seconds
    #[arg(short = 'T', value_name = "SECONDS", help_heading = "Running",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,

    /// Size of the output buffer of each CPU, in MiB
    #[arg(short = 's', value_name = "MIB", help_heading = "Running",
          value_parser = clap::value_parser!(u32).range(1..=4095))]
    pub buffer_size: Option<u32>,

    /// With --target=host: fire the script's probes as the file says (`-`: standard input)
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub events: Option<PathBuf>,

    /// With --events: one event after the other, in the order of the file
    #[arg(long, requires = "events", help_heading = "Running")]
    pub serial: bool,

    /// Write the events that fire the script's kernel probes to a file, for --events
    #[arg(long, value_name = "FILE", help_heading = "Running", conflicts_with = "events")]
    pub record: Option<PathBuf>,

    /// Remove a module whose loader was killed; `list` shows which there are
    #[arg(long, value_name = "MODULE", help_heading = "Running", exclusive = true)]
    pub unload: Option<String>,

    /// Print a stage's result instead of running the script
    #[arg(long, value_name = "STAGE", help_heading = "Inspection")]
    pub emit: Option<Emit>,

    /// The same as --emit=c
    #[arg(long, help_heading = "Inspection", conflicts_with = "emit")]
    pub emit_c: bool,

    /// Optimize not at all (-O0) or fully (-O1, the default)
    #[arg(
        short = 'O',
        value_name = "LEVEL",
        default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(0..=1),
        help_heading = "Inspection"
    )]
    pub optimize: u8,

    /// Run just these optimization passes, in this order; without a list, describe them all
    #[arg(
        long,
        value_name = "PASS,...",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Inspection"
    )]
    pub passes: Option<String>,

    /// Print the IR before an optimization pass runs
    #[arg(long, value_name = "PASS,...|all", value_delimiter = ',', help_heading = "Inspection")]
    pub print_before: Vec<String>,

    /// Print the IR after an optimization pass has run
    #[arg(long, value_name = "PASS,...|all", value_delimiter = ',', help_heading = "Inspection")]
    pub print_after: Vec<String>,

    /// Print how optimization passes change the IR, as a difference
    #[arg(
        long,
        value_name = "PASS,...|all",
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        help_heading = "Inspection"
    )]
    pub print_changed: Vec<String>,

    /// Write a page that shows script, IR after each optimization pass, and C, for a browser
    #[arg(
        long,
        value_name = "OUT.html",
        help_heading = "Inspection",
        conflicts_with_all = ["emit", "emit_c", "bisect"]
    )]
    pub explore: Option<PathBuf>,

    /// Check the IR after every optimization pass
    #[arg(long, help_heading = "Inspection")]
    pub verify_each: bool,

    /// Say how long each optimization pass takes
    #[arg(long, help_heading = "Inspection")]
    pub time_passes: bool,

    /// Say what the optimization passes counted, and how much IR there was and is
    #[arg(long, help_heading = "Inspection")]
    pub stats: bool,

    /// Say what optimization passes did, and could not do, and why
    ///
    /// A list of passes and of the words all, applied, missed, analysis, detail; with `json` in it,
    /// one JSON object a line. Details, of which there are many, come with a pass, all or detail.
    #[arg(
        long,
        value_name = "PASS|missed|all|json,...",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Inspection"
    )]
    pub remarks: Option<String>,

    /// Run only the first N applications of optimization passes, and list them all
    #[arg(long, value_name = "N", help_heading = "Inspection")]
    pub opt_bisect_limit: Option<u64>,

    /// Find the optimization pass that makes a shell command fail
    ///
    /// The command is run with more and fewer passes. It finds the C in the file $XLATE_C, the IR in
    /// $XLATE_IR, and what to give --opt-bisect-limit in $XLATE_LIMIT.
    #[arg(
        long,
        value_name = "COMMAND",
        help_heading = "Inspection",
        conflicts_with_all = ["opt_bisect_limit", "emit", "emit_c"]
    )]
    pub bisect: Option<String>,

    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version)]
    pub version: Option<bool>,
}

/// What a script becomes.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A module for a Linux kernel
    Kernel,
    /// A program for this machine
    Host,
}

/// A stage whose result can be printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// The script as parsed, printed as a script (pass 1)
    Ast,
    /// The typed program: names resolved, library functions pulled in (pass 2)
    Typed,
    /// The IR, optimized unless -O0 (pass 3)
    Ir,
    /// Control-flow graphs of the IR, for Graphviz (pass 3)
    Cfg,
    /// The C (pass 3)
    C,
    /// The module, in the current folder or where -o says (pass 4)
    Ko,
}

impl Options {
    /// The stage to print: what `--emit` says, or what `-p` stops at.
    pub fn emitted(&self) -> Option<Emit> {
        self.emit.or(match self.last_pass {
            _ if self.emit_c => Some(Emit::C),
            1 => Some(Emit::Ast),
            2 => Some(Emit::Typed),
            3 => Some(Emit::C),
            _ => None,
        })
    }

    /// The script's file, if it comes from one, and its arguments.
    pub fn script_words(&self) -> (Option<&OsString>, &[OsString]) {
        match (&self.script, self.words.split_first()) {
            (None, Some((file, arguments))) => (Some(file), arguments),
            (_, _) => (None, &self.words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parsed(words: &[&str]) -> Options {
        Options::try_parse_from([&["xlate"], words].concat()).expect("good options")
    }

    #[test]
    fn the_options_are_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn options_are_spelled_as_in_systemtap() {
        let options = parsed(&["-vp4", "-DMAXACTION=5", "-G", "n=1", "a.stp", "-k", "5", "-1"]);
        assert_eq!((options.verbose, options.last_pass, options.keep), (1, 4, true));
        assert_eq!(options.define, ["MAXACTION=5"]);
        assert_eq!(options.global, ["n=1"]);
        let (file, arguments) = options.script_words();
        assert_eq!(file.expect("a file"), "a.stp");
        assert_eq!(arguments, ["5", "-1"]);
    }

    #[test]
    fn with_e_all_words_are_arguments() {
        let options = parsed(&["-e", "probe begin {}", "one", "--", "-k"]);
        assert_eq!(options.script_words(), (None, &["one".into(), "-k".into()][..]));
        assert!(!options.keep);
    }

    #[test]
    fn a_stage_is_chosen_by_emit_or_by_the_last_pass() {
        assert_eq!(parsed(&["a"]).emitted(), None);
        assert_eq!(parsed(&["a", "-p2"]).emitted(), Some(Emit::Typed));
        assert_eq!(parsed(&["a", "--emit-c"]).emitted(), Some(Emit::C));
        assert_eq!(parsed(&["a", "--emit=cfg", "-O0"]).emitted(), Some(Emit::Cfg));
        assert!(Options::try_parse_from(["xlate", "-p6"]).is_err());
    }
}
