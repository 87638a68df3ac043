//! A shim for boxspec, contract policy. Five places say FILL IN: name, capabilities, and how to
//! match a glob, to resolve a profile and to check a path. Until then globs.rs matches the rules
//! and policies.rs loads the files, so that `boxspec run` begins with a shim that conforms to
//! profile contract. A failure is then about your code. The other files need no change.

mod globs;
mod operations;
mod policies;

use policies::{Lists, Spec};
use protocol::json::Json;
use protocol::{invalid, object, Refusal};

// FILL IN: the name and version of your implementation.
const NAME: &str = "my-implementation";
const VERSION: &str = "0.1";

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const CAPABILITIES: [&str; 3] = ["glob", "policy", "policy.json"];

/// FILL IN: whether a glob matches a path.
fn matches(glob: &str, path: &str) -> bool {
    globs::matches(glob, path)
}

/// FILL IN: the rules of a profile with the global denies, in the order in which they count. A rule
/// with `!` denies. Exceptions in denyModify are not handled here.
fn resolved(spec: &Spec, profile: &str) -> Result<Lists, Refusal> {
    let all = || Lists { read: vec!["**".into()], modify: vec!["**".into()] };
    let mut rules = match spec.profiles.get(profile) {
        Some(rules) => rules.clone(),
        None if profile == "unrestricted" => all(),
        None => return Err(invalid(format!("there is no profile `{profile}`"))),
    };
    rules.read.extend(spec.denies.read.iter().map(|rule| format!("!{rule}")));
    rules.modify.extend(spec.denies.modify.iter().map(|rule| format!("!{rule}")));
    Ok(rules)
}

/// FILL IN: decide by the last rule that matches; without a match the path is denied.
fn check(rules: &[String], path: &str) -> Json {
    let body = |rule: &'_ String| rule.strip_prefix('!').unwrap_or(rule).to_owned();
    if let Some(rule) = rules.iter().rev().find(|rule| matches(&body(rule), path)) {
        let allowed = !rule.starts_with('!');
        return object! {"allowed": allowed, "path": path, "matched_rule": body(rule)};
    }
    let none =
        if rules.iter().all(|rule| rule.starts_with('!')) { "[]" } else { "<no matching rule>" };
    object! {"allowed": false, "path": path, "matched_rule": none}
}

fn main() -> std::io::Result<()> {
    let about = object! {"name": NAME, "version": VERSION, "language": "Rust"};
    let hello = object! {"implementation": about, "capabilities": CAPABILITIES.to_vec()};
    protocol::main(hello, &operations::OPERATIONS)
}
