// The request of ../tries to a caller, and the answer.

use serde_json::{json, Value};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{env, io};

pub struct Asked {
    json: Value,
    pub input: Option<String>,
    pub limit: Option<Duration>,
}

impl Asked {
    /// With piped output, and not yet in a group of its own.
    pub fn command(&self) -> Command {
        let mut words =
            self.json["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        let mut command = Command::new(words.next().unwrap());
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.input.is_some() {
            command.stdin(Stdio::piped());
        }
        if let Some(folder) = self.json["cwd"].as_str() {
            command.current_dir(folder);
        }
        if let Some(pairs) = self.json["env"].as_array() {
            command.env_clear();
            command.envs(
                pairs.iter().map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())),
            );
        }
        command
    }
}

/// `run` gives the output, and whether the limit has passed.
pub fn tell(run: fn(Asked) -> io::Result<(Output, bool)>) {
    let json: Value = serde_json::from_str(&env::args().nth(1).unwrap()).unwrap();
    let input = json["input"].as_str().map(str::to_owned);
    let limit = json["timeout_ms"].as_u64().map(Duration::from_millis);
    let told = match run(Asked { json, input, limit }) {
        Ok((done, late)) => json!({"code": done.status.code(), "late": late,
            "out": String::from_utf8_lossy(&done.stdout), "err": String::from_utf8_lossy(&done.stderr)}),
        Err(why) => json!({"error": why.to_string()}),
    };
    println!("{told}");
}
