//! Running programs and taking their time.

use std::io;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs a program to its end; gives its standard output.
pub(crate) fn output(command: &mut Command) -> io::Result<String> {
    Ok(outputs(command)?.0)
}

/// Runs a program to its end; gives what it wrote to standard output and standard error.
pub(crate) fn outputs(command: &mut Command) -> io::Result<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    match output.status.success() {
        true => Ok((text(&output.stdout), text(&output.stderr))),
        false => Err(io::Error::other(format!(
            "{command:?}: {}\n{}",
            output.status,
            text(&output.stderr).trim_end()
        ))),
    }
}

/// Runs a program to its end; gives the milliseconds that this took.
pub(crate) fn milliseconds(command: &mut Command) -> io::Result<f64> {
    let begun = Instant::now();
    output(command)?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// The middle value; of two in the middle the lower. None of no values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn a_failing_program_is_named_with_what_it_said() {
        let error = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).expect_err("3");
        let text = error.to_string();
        assert!(text.contains("exit 3") && text.contains("why"), "{text}");
    }
}
