//! The operations of the contract policy. This file needs no change.

use crate::policies::loaded;
use crate::{check, matches, resolved};
use protocol::bytes::text_of;
use protocol::json::Json;
use protocol::{object, refuse_others, Operation, Refusal};

pub const OPERATIONS: [Operation; 3] = [
    operation("glob.match", "pattern pattern_b64 paths paths_b64", glob_match),
    operation("policy.resolve", "policy profile", policy_resolve),
    operation("policy.check", "policy checks", policy_check),
];

const fn operation(
    name: &'static str,
    fields: &'static str,
    take: fn(&Json) -> Result<Json, Refusal>,
) -> Operation {
    Operation { name, fields, take, only_run: |_| false }
}

fn glob_match(asked: &Json) -> Result<Json, Refusal> {
    let glob = text_of(asked, "pattern")?;
    let plain = asked.list("paths").iter().map(|path| object! {"path": path.clone()});
    let encoded = asked.list("paths_b64").iter().map(|path| object! {"path_b64": path.clone()});
    let item = |path: Json| match text_of(&path, "path") {
        Ok(path) => object! {"match": matches(&glob, &path)},
        Err(why) => why.told(),
    };
    Ok(object! {"items": plain.chain(encoded).map(item).collect::<Vec<_>>()})
}

fn policy_resolve(asked: &Json) -> Result<Json, Refusal> {
    let spec = loaded(asked)?;
    let profile = profile_of(asked);
    let rules = resolved(&spec, profile)?;
    let origin = if spec.profiles.contains_key(profile) { "defined" } else { "synthesized" };
    Ok(object! {"profile": profile, "profile_origin": origin, "read": rules.read,
    "modify": rules.modify})
}

fn policy_check(asked: &Json) -> Result<Json, Refusal> {
    let spec = loaded(asked)?;
    let answer = |each: &Json| -> Result<Json, Refusal> {
        let rules = resolved(&spec, profile_of(each))?;
        let rules = if each.text("op") == "read" { rules.read } else { rules.modify };
        Ok(check(&rules, &text_of(each, "path")?))
    };
    let mut checks = vec![];
    for each in asked.list("checks") {
        refuse_others(each, "op path path_b64 profile", "policy.check")?;
        checks.push(answer(each).unwrap_or_else(|why| why.told()));
    }
    Ok(object! {"checks": checks})
}

fn profile_of(asked: &Json) -> &str {
    asked.get("profile").and_then(Json::as_text).unwrap_or("unrestricted")
}
