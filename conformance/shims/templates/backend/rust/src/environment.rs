//! The environment of a call. This file needs no change.

use protocol::json::Json;
use std::env;
use std::ffi::OsString;

const INHERITED: &str = "PATH HOME USER LOGNAME SHELL TZ LANG LANGUAGE";

pub fn environment(request: &Json) -> Vec<(OsString, OsString)> {
    if let Some(env @ Json::Object(_)) = request.get("env") {
        let pairs = env.pairs("clear_and_set");
        return pairs.map(|(name, value)| (name.into(), value.into())).collect();
    }
    let passed =
        |name: &str| name.starts_with("LC_") || INHERITED.split(' ').any(|each| each == name);
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(passed)).collect()
}
