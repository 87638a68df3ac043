//! The operation of the contract module. This file needs no change.

use crate::execute;
use protocol::bytes::content;
use protocol::json::Json;
use protocol::{object, Operation, Refusal};
use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path;

pub const EXECUTE: Operation = Operation {
    name: "module.execute",
    fields: "module_id input enabled timeout_ms extensions_root extensions_root_b64",
    take: module_execute,
    only_run: starts_a_child,
};

fn module_execute(asked: &Json) -> Result<Json, Refusal> {
    let module = asked.text("module_id");
    if !starts_a_child(asked) {
        return Ok(object! {"error": object! {"class": "NotWired", "module_id": module,
        "message": "modules run only in a child"}});
    }
    let given = Some(OsString::from_vec(content(asked, "extensions_root")));
    let root = given.filter(|root| !root.is_empty());
    let root = root.or_else(|| env::var_os("APCORE_EXTENSIONS_ROOT"));
    let program = path::absolute(root.unwrap_or("./extensions".into()))?.join(module);
    if !program.is_file() {
        let message = format!("module not found: {}", program.display());
        return Ok(object! {"error": object! {"class": "SpawnFailed", "module_id": module,
        "message": message}});
    }
    let timeout_ms = asked.number("timeout_ms").filter(|ms| *ms > 0).unwrap_or(300_000);
    execute(module, &program, asked.get("input").unwrap_or(&Json::Null), timeout_ms)
}

fn starts_a_child(asked: &Json) -> bool {
    asked.get("enabled") != Some(&Json::Bool(false))
}
