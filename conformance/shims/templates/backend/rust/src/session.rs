//! The sessions of a sandbox: the environment and the calls. This file needs no change.

use crate::probe::probe;
use crate::running::run;
use crate::{command, environment::environment};
use protocol::json::Json;
use protocol::scratch::Scratch;
use protocol::{invalid, object, refuse_others, Refusal};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const REQUEST: &str = "program args current_dir stdin env timeout_ms";

pub fn session(asked: &Json) -> Result<Json, Refusal> {
    let context = asked.get("context").unwrap_or(&Json::Null);
    refuse_others(context, "root cwd profile egress", "backend.policy")?;
    let claims = probe(&context.clone().with(&object! {"backend": asked.text("backend")}))?;
    let (root, cwd) = places(context)?;
    let aspects = claims.get("aspects").unwrap_or(&Json::Null).fields();
    let reasons: Vec<Json> =
        aspects.flat_map(|(_, each)| each.list("reasons").iter().cloned()).collect();
    let called = |call: &str, ok: bool| object! {"call": call, "ok": ok};
    let mut log = vec![called("probe", true)];
    let overall = claims.text("overall").to_owned();
    let none = Vec::<Json>::new;
    let result = object! {"claims": claims, "not_enforced": none(), "reasons": reasons};
    if overall != "fully" && asked.text("on_unavailable") != "degrade" {
        let why = format!("the sandbox is {overall}");
        return Ok(result.with(&object! {"session": "refused", "why": why, "log": log,
        "warnings": none(), "calls": none(), "enforcement": "none"}));
    }
    let confine = overall != "unavailable";
    let enforcement = if confine { overall.as_str() } else { "none" };
    let warnings = if confine { vec![] } else { vec!["the calls run WITHOUT a sandbox"] };
    let scratch = Scratch::new("scratch")?;
    let mut calls = vec![];
    for each in asked.list("calls") {
        let request = each.get("request").unwrap_or(&Json::Null);
        refuse_others(request, REQUEST, "exec.run")?;
        let place = request.get("current_dir").and_then(Json::as_text);
        let place = place.map_or_else(|| cwd.clone(), |place| cwd.join(place));
        let mut argv = vec![request.text("program")];
        argv.extend(request.list("args").iter().filter_map(Json::as_text));
        let mut line = if confine {
            command(&argv, &root, &scratch.0, &place, context.text("profile"))
        } else {
            let mut plain = Command::new(argv[0]);
            plain.args(&argv[1..]);
            plain
        };
        line.current_dir(&place).env_clear().envs(environment(request)).env("TMPDIR", &scratch.0);
        let mut done = run(request, &mut line);
        if let Some(told) = done.get("result") {
            let told = told.clone().with(&object! {"enforcement": enforcement});
            done = object! {"result": told};
        }
        log.extend([called("wrap", true), called("run", done.get("result").is_some())]);
        calls.push(done);
    }
    log.push(called("shutdown", true));
    Ok(result.with(&object! {"session": "opened", "enforcement": enforcement, "calls": calls,
    "warnings": warnings, "log": log}))
}

/// Return the root and the working directory of a context without links.
fn places(context: &Json) -> Result<(PathBuf, PathBuf), Refusal> {
    let root = fs::canonicalize(context.text("root")).ok().filter(|root| root.is_dir());
    let cwd = root.as_ref().and_then(|root| fs::canonicalize(root.join(context.text("cwd"))).ok());
    match (root, cwd) {
        (Some(root), Some(cwd)) if cwd.starts_with(&root) => Ok((root, cwd)),
        _ => Err(invalid("the root or the cwd is no directory of the workspace")),
    }
}
