//! Which application of a pass makes a check fail, for `--bisect` and `--opt-bisect-limit`.

use std::fmt::Write;

use xlate_passes::manager::BisectStep;

/// What a search finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The check fails before any pass has run.
    FailsWithoutPasses,
    /// The check succeeds when all passes have run.
    NeverFails,
    /// The check succeeds up to the step before this one and fails with it; steps count from 1.
    Step(u64),
}

/// Searches for a step that makes a check fail: `is_good` says whether it succeeds when only that
/// many steps have run. If that changes more than once with the number, one of the changes is found.
/// About log2(`steps`) checks are made.
///
/// # Errors
/// Those of `is_good`.
pub fn search<E>(
    steps: u64,
    mut is_good: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Verdict, E> {
    if is_good(steps)? {
        return Ok(Verdict::NeverFails);
    }
    if steps == 0 || !is_good(0)? {
        return Ok(Verdict::FailsWithoutPasses);
    }
    let (mut good, mut bad) = (0, steps);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if is_good(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(Verdict::Step(bad))
}

/// One line for each step: its number, whether it ran, the pass and what it ran on.
pub fn steps(steps: &[BisectStep]) -> String {
    let mut out = String::new();
    for (step, number) in steps.iter().zip(1u64..) {
        let how = if step.ran { "run " } else { "skip" };
        // Writing to a string does not fail.
        let _ = writeln!(out, "bisect: {how} {number:>4} {} on {}", step.pass, step.target);
    }
    out
}

/// What is said of the step that is at fault.
pub fn blame(step: &BisectStep, number: u64, of: u64) -> String {
    format!("pass `{}` is at fault: step {number} of {of}, on {}", step.pass, step.target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_for(steps: u64, first_bad: u64) -> (Verdict, u32) {
        let mut checks = 0;
        let verdict = search(steps, |limit| {
            checks += 1;
            Ok::<_, ()>(limit < first_bad)
        });
        (verdict.expect("no errors"), checks)
    }

    #[test]
    fn every_step_can_be_found() {
        for steps in 0..40 {
            for first_bad in 1..=steps {
                let (verdict, checks) = search_for(steps, first_bad);
                assert_eq!(verdict, Verdict::Step(first_bad), "of {steps}");
                assert!(checks <= 2 + steps.ilog2() + 1, "{checks} checks of {steps} steps");
            }
            assert_eq!(search_for(steps, steps + 1).0, Verdict::NeverFails);
            assert_eq!(search_for(steps, 0).0, Verdict::FailsWithoutPasses);
        }
    }

    #[test]
    fn a_check_that_breaks_ends_the_search() {
        assert_eq!(search(9, |_| Err::<bool, _>("broken")), Err("broken"));
    }

    #[test]
    fn steps_are_numbered_from_one() {
        let step = |pass, ran| BisectStep { pass, target: "handler @h0".to_owned(), ran };
        let list = [step("sccp", true), step("gvn", false)];
        assert_eq!(
            steps(&list),
            "bisect: run     1 sccp on handler @h0\nbisect: skip    2 gvn on handler @h0\n"
        );
        assert_eq!(blame(&list[1], 2, 9), "pass `gvn` is at fault: step 2 of 9, on handler @h0");
    }
}
