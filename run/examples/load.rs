//! A loader of compiled modules, without the rest of xlate:
//! `load [-c COMMAND] [-x PID] [-T SECONDS] [-o FILE] MODULE.ko [NAME=VALUE…]`

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use xlate_run::{Interrupts, Notice, RunRequest, TargetSpec, run};

fn main() -> ExitCode {
    match load() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("ERROR: {error}");
            ExitCode::FAILURE
        }
    }
}

fn load() -> Result<u8, Box<dyn std::error::Error>> {
    let (mut target, mut timeout, mut output) = (TargetSpec::None, None, None);
    let mut arguments = std::env::args().skip(1);
    let module = loop {
        let argument = arguments.next().ok_or("which module?")?;
        let mut value = || arguments.next().ok_or("an option without its value");
        match argument.as_str() {
            "-c" => target = TargetSpec::Command(value()?),
            "-x" => target = TargetSpec::Process(value()?.parse()?),
            "-T" => timeout = Some(Duration::from_secs_f64(value()?.parse()?)),
            "-o" => output = Some(PathBuf::from(value()?)),
            "--unload" => {
                xlate_run::unload(&value()?)?;
                return Ok(0);
            }
            _ => break PathBuf::from(argument),
        }
    };
    let parameters: Vec<String> = arguments.collect();
    let request = RunRequest {
        module: &module,
        rename: true,
        parameters: &parameters,
        buffer_size: None,
        target,
        timeout,
        output: output.as_deref(),
        record: None,
        interrupts: &Interrupts::catch()?,
    };
    let outcome = run(&request, &mut |notice| match notice {
        Notice::Warning(text) => eprintln!("WARNING: {text}"),
        Notice::Error(text) => eprintln!("ERROR: {text}"),
        Notice::Text(text) => eprintln!("{text}"),
    })?;
    Ok(outcome.exit_code())
}
