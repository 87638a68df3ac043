//! A shim around globset: one `Glob` with `literal_separator`, as ripgrep uses it for paths.

use base64::prelude::{Engine, BASE64_STANDARD};
use globset::GlobBuilder;
use serde_json::{json, Value};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Return the bytes of a field, or of its base64 counterpart.
fn bytes(text: &Value, encoded: bool) -> Vec<u8> {
    let text = text.as_str().unwrap_or_default();
    match encoded {
        true => BASE64_STANDARD.decode(text).unwrap_or_default(),
        false => text.as_bytes().to_vec(),
    }
}

fn unsupported(capability: &str, why: &str) -> (&'static str, Value) {
    ("unsupported", json!({"capability": capability, "why": why}))
}

fn matched(asked: &Value) -> (&'static str, Value) {
    if asked["case"] == "fold" {
        return unsupported("policy.fold", "case is not folded as the contract says");
    }
    let refused = |why: String| ("error", json!({"kind": "invalid_input", "message": why}));
    let encoded = asked.get("pattern_b64");
    let pattern = bytes(encoded.unwrap_or(&asked["pattern"]), encoded.is_some());
    let Ok(pattern) = String::from_utf8(pattern) else {
        return refused("a glob is text in UTF-8".to_owned());
    };
    // Without this, `*` and `?` match a separator.
    let glob = match GlobBuilder::new(&pattern).literal_separator(true).build() {
        Ok(glob) => glob.compile_matcher(),
        Err(why) => return refused(why.to_string()),
    };
    let encoded = asked.get("paths_b64");
    let paths = encoded.unwrap_or(&asked["paths"]).as_array().cloned().unwrap_or_default();
    let answer = |path| glob.is_match(OsString::from_vec(bytes(path, encoded.is_some())));
    let items: Vec<Value> = paths.iter().map(|path| json!({"match": answer(path)})).collect();
    ("result", json!({"items": items}))
}

fn answer(asked: &Value) -> (&'static str, Value) {
    match asked["op"].as_str().unwrap_or("") {
        "hello" => {
            let about = json!({"name": "globset", "version": env!("GLOBSET_VERSION"),
                "language": "Rust", "homepage": "https://docs.rs/globset"});
            let said = json!({"protocol": 1, "nonce": asked["nonce"], "pid": std::process::id(),
                "implementation": about, "capabilities": ["glob"],
                "constants": {"grace_ms": 5000, "tick_ms": 100}});
            ("result", said)
        }
        "bye" => ("result", json!({})),
        "glob.match" => matched(asked),
        op => unsupported(op, "globset matches globs"),
    }
}

fn reply(text: &str) -> std::io::Result<(Value, String)> {
    let asked: Value = serde_json::from_str(text)?;
    let (kind, said) = answer(&asked);
    let line = json!({"id": asked["id"], kind: said}).to_string();
    Ok((asked, line))
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if words[1] == "serve" {
        for line in std::io::stdin().lines() {
            let (asked, line) = reply(&line?)?;
            println!("{line}");
            if asked["op"] == "bye" {
                break;
            }
        }
        return Ok(());
    }
    let (_, line) = reply(&std::fs::read_to_string(&words[2])?)?;
    let new = words[3].clone() + ".new";
    std::fs::write(&new, line)?;
    std::fs::rename(&new, &words[3]) // atomic, so that no reader sees half an answer
}
