//! A shim for boxspec, contract module. Three places say FILL IN: name, capabilities, and how to
//! execute a module. Until then modules are executed by running.rs, so that `boxspec run` begins
//! with a shim that conforms to profile contract. A failure is then about your code. The other
//! files need no change.

mod operations;
mod running;

use protocol::json::{field, Json};
use protocol::parse::parse;
use protocol::scratch::Scratch;
use protocol::{object, Refusal};
use running::{run, Reason};
use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

// FILL IN: the name and version of your implementation.
const NAME: &str = "my-implementation";
const VERSION: &str = "0.1";

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const CAPABILITIES: [&str; 1] = ["module"];

/// FILL IN: execute one module in a child process; return `value` or `error`.
fn execute(module: &str, program: &Path, input: &Json, timeout_ms: u64) -> Result<Json, Refusal> {
    let failure = |class: &str| object! {"class": class, "module_id": module};
    let scratch = Scratch::new("module")?;
    let mut command = Command::new(program);
    command.current_dir(&scratch.0).env_clear().envs(environment());
    command.env("HOME", &scratch.0).env("TMPDIR", &scratch.0);
    let done = match run(&mut command, input.to_string(), Duration::from_millis(timeout_ms)) {
        Err(why) => return Ok(error(failure("SpawnFailed"), "message", why.to_string())),
        Ok(done) => done,
    };
    if let Some(reason) = done.ended {
        return Ok(match reason {
            Reason::Timeout => error(failure("Timeout"), "timeout_ms", timeout_ms),
            Reason::Interrupted(signal) => error(failure("Interrupted"), "signal", signal),
        });
    } else if !done.status.success() {
        let code = done.status.code().unwrap_or(-1);
        let told = failure("NonZeroExit").with(&object! {"exit_code": code});
        return Ok(error(told, "stderr", String::from_utf8_lossy(&done.err).into_owned()));
    }
    let text = String::from_utf8(done.out).map_err(|why| why.to_string());
    Ok(match text.and_then(|text| parse(&text)) {
        Ok(value) => object! {"value": value},
        Err(reason) => error(failure("OutputParseFailed"), "reason", reason),
    })
}

/// Return an error of a module with one more field.
fn error(told: Json, name: &str, value: impl Into<Json>) -> Json {
    object! {"error": told.with(&field(name, value))}
}

/// Return the environment of a module: a few variables of the caller, and no secret.
fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    env::vars_os().filter(|(name, _)| {
        let name = name.as_encoded_bytes();
        [b"PATH", b"LANG", b"LC_ALL".as_slice()].contains(&name)
            || name.starts_with(b"APCORE_") && !name.starts_with(b"APCORE_AUTH_")
    })
}

fn main() -> std::io::Result<()> {
    let about = object! {"name": NAME, "version": VERSION, "language": "Rust"};
    let hello = object! {"implementation": about, "capabilities": CAPABILITIES.to_vec()};
    protocol::main(hello, &[operations::EXECUTE])
}
