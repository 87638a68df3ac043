//! Load a policy file in JSON, with the file of a workspace merged over it.

use protocol::bytes::text_of;
use protocol::json::Json;
use protocol::parse::parse;
use protocol::{invalid, refuse_others, Refusal};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Lists {
    pub read: Vec<String>,
    pub modify: Vec<String>,
}

/// The `spec` of a policy.
#[derive(Default)]
pub struct Spec {
    pub denies: Lists,
    pub profiles: BTreeMap<String, Lists>,
}

/// Return the `spec` of a policy. It fails if a required part is missing.
pub fn loaded(asked: &Json) -> Result<Spec, Refusal> {
    let source = asked.get("policy").unwrap_or(&Json::Null);
    refuse_others(source, "format text text_b64 workspace", "policy")?;
    if source.text("format") != "json" {
        return Err(Refusal::Unsupported("policy.yaml".into(), "not in this shim".into()));
    }
    let mut spec = spec_of(source)?;
    if let Some(workspace) = source.get("workspace") {
        refuse_others(workspace, "format text text_b64", "policy")?;
        // A profile of the workspace replaces the global one of its name. Its denies come last.
        let below = spec_of(workspace)?;
        spec.profiles.extend(below.profiles);
        spec.denies.read.extend(below.denies.read);
        spec.denies.modify.extend(below.denies.modify);
    }
    Ok(spec)
}

fn spec_of(source: &Json) -> Result<Spec, Refusal> {
    let policy = parse(&text_of(source, "text")?);
    let policy = policy.map_err(|why| invalid(format!("the policy does not load: {why}")))?;
    let name = policy.get("metadata").and_then(|data| data.get("name")?.as_text());
    let (Some(given @ Json::Object(_)), Some(_)) = (policy.get("spec"), name) else {
        return Err(invalid("it has no spec or no name"));
    };
    if policy.number("schemaVersion") != Some(2) || policy.text("kind") != "Policy" {
        return Err(invalid("it is no Policy of version 2"));
    }
    let denies = lists(given, "denyRead", "denyModify")?;
    let mut spec = Spec { denies, ..Spec::default() };
    for (profile, rules) in given.get("fsProfiles").unwrap_or(&Json::Null).fields() {
        let rules = lists(rules, "read", "modify")?;
        if let Some(rule) = rules.modify.iter().find(|rule| !covered(&rules.read, rule)) {
            let why = format!("profile {profile}: no read rule covers the modify rule {rule}");
            return Err(invalid(why));
        }
        spec.profiles.insert(profile.clone(), rules);
    }
    Ok(spec)
}

fn lists(from: &Json, read: &str, modify: &str) -> Result<Lists, Refusal> {
    let list = |name: &str| match from.get(name) {
        None => Ok(vec![]),
        Some(Json::List(rules)) => rules
            .iter()
            .map(|rule| rule.as_text().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| invalid(format!("{name} has a rule that is no string"))),
        Some(_) => Err(invalid(format!("{name} is no list"))),
    };
    Ok(Lists { read: list(read)?, modify: list(modify)? })
}

/// Return whether a read rule covers this modify rule. A rule with `!` covers none, and needs none.
fn covered(reads: &[String], modify: &str) -> bool {
    let covers = |read: &String| {
        let below = read.strip_suffix("/**").and_then(|above| modify.strip_prefix(above));
        let below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        !read.starts_with('!') && (below || read == modify || read == "**" || read == "./**")
    };
    modify.starts_with('!') || reads.iter().any(covers)
}
