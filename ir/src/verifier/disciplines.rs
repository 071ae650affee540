//! Disciplines: a global is *lone* or *sharded* only where all handlers do with it what that allows.

use super::VerifierError;
use crate::module::Module;
use crate::sharing::{Described, Sharing};
use crate::types::Discipline;

/// Checks the disciplines of all globals of a module whose bodies are sound.
pub(super) fn check(module: &Module, sharing: &Sharing) -> Vec<VerifierError> {
    let mut errors = Vec::new();
    for (global, data) in module.globals.iter() {
        let message = match data.discipline {
            Discipline::Sharded => match sharing.shardable(module, global) {
                Ok(false) => continue,
                Ok(true) => "a timer does more than update it, so its shards need locks".into(),
                Err(obstacle) => {
                    format!("it cannot be sharded: {}", Described(module, &obstacle))
                }
            },
            Discipline::ShardedLocked | Discipline::ShardedLockedWith(_) => {
                match sharing.shardable(module, global) {
                    Ok(_) => continue,
                    Err(obstacle) => {
                        format!("it cannot be sharded: {}", Described(module, &obstacle))
                    }
                }
            }
            Discipline::Lone => match sharing.lone(module, global, |g| module.is_ordered(g)) {
                Ok(()) => continue,
                Err(obstacle) => format!("it cannot be lone: {}", Described(module, &obstacle)),
            },
            Discipline::Locked | Discipline::LockedWith(_) | Discipline::Serial => continue,
        };
        let owner = format!("global @{}", data.name);
        errors.push(VerifierError { owner, block: None, inst: None, message });
    }
    errors
}
