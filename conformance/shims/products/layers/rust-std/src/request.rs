// A request to run a program, and the Command that it is.

use base64::{prelude::BASE64_STANDARD as BASE64, Engine};
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// stdin: the payload; without one, `command` has the stdin. deadline: absent without a limit, or
/// with a limit beyond the range of Instant.
pub struct Request {
    json: Value,
    pub stdin: Option<Vec<u8>>,
    pub deadline: Option<Instant>,
}

impl Request {
    pub fn of(json: Value, began: Instant) -> Request {
        let stdin = bytes(&json["stdin"], "bytes");
        let limit = json["timeout_ms"].as_u64().map(Duration::from_millis);
        Request { json, stdin, deadline: limit.and_then(|limit| began.checked_add(limit)) }
    }

    /// With piped output, and not yet in a group of its own.
    pub fn command(&self) -> Command {
        let program = bytes(&self.json, "program").unwrap_or_default();
        let mut command = Command::new(OsString::from_vec(program));
        command.args(lists(&self.json, "args").into_iter().map(OsString::from_vec));
        if let Some(folder) = bytes(&self.json, "current_dir") {
            command.current_dir(OsString::from_vec(folder));
        }
        if self.json["env"].is_object() {
            command.env_clear();
            for pair in pairs(&self.json["env"]) {
                let [name, value] = pair.map(OsString::from_vec);
                command.env(name, value);
            }
        }
        command.stdin(match &self.json["stdin"] {
            Value::Object(_) => Stdio::piped(),
            Value::String(word) if word == "null" => Stdio::null(),
            _ => Stdio::inherit(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// A string, or its base64 counterpart.
fn word(plain: &Value, encoded: bool) -> Vec<u8> {
    let text = plain.as_str().unwrap_or("");
    if encoded {
        BASE64.decode(text).unwrap_or_default()
    } else {
        text.as_bytes().to_vec()
    }
}

fn bytes(holder: &Value, name: &str) -> Option<Vec<u8>> {
    let decoded = holder.get(format!("{name}_b64")).map(|value| word(value, true));
    decoded.or_else(|| holder.get(name).map(|value| word(value, false)))
}

fn items<'a>(holder: &'a Value, name: &str) -> (Vec<&'a Value>, bool) {
    let encoded = holder.get(format!("{name}_b64"));
    let found = encoded.or_else(|| holder.get(name)).and_then(Value::as_array);
    (found.map_or(Vec::new(), |list| list.iter().collect()), encoded.is_some())
}

fn lists(holder: &Value, name: &str) -> Vec<Vec<u8>> {
    let (found, encoded) = items(holder, name);
    found.into_iter().map(|value| word(value, encoded)).collect()
}

fn pairs(env: &Value) -> Vec<[Vec<u8>; 2]> {
    let (found, encoded) = items(env, "clear_and_set");
    found.into_iter().map(|pair| [word(&pair[0], encoded), word(&pair[1], encoded)]).collect()
}
