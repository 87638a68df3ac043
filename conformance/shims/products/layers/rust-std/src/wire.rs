// The shim protocol, shared by all shims in Rust around libraries that run programs.

pub use crate::request::Request;
use base64::{prelude::BASE64_STANDARD as BASE64, Engine};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::process::ExitStatus;
use std::time::Instant;
use std::{env, fs, io};

const FIELDS: [&str; 6] = ["program", "args", "current_dir", "stdin", "env", "timeout_ms"];
const BESIDE: [&str; 4] = ["id", "op", "request", "hold"];

pub struct Ended {
    pub status: ExitStatus,
    pub late: bool,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// Add the failed operation to the message of an error.
pub fn cannot(what: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |why| io::Error::other(format!("{what}: {why}"))
}

/// Return the text of a stream, or its digest if it has more than 1 MiB.
fn stream(data: &[u8]) -> Value {
    let text = String::from_utf8_lossy(data);
    let raw = text.as_bytes();
    if raw.len() <= 1 << 20 {
        return json!(text);
    }
    let digest: String = Sha256::digest(raw).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"bytes": raw.len(), "sha256": digest, "head_b64": BASE64.encode(&raw[..4096]),
        "tail_b64": BASE64.encode(&raw[raw.len() - 4096..])})
}

fn failed(kind: &str, why: &str) -> Value {
    json!({"error": {"kind": kind, "message": why}})
}

/// Return the first unknown field of a message, by its capability or by its own name.
fn unknown(message: &Value) -> Option<String> {
    let request = message["request"].as_object().unwrap();
    let beside = message.as_object().unwrap().keys().find(|name| !BESIDE.contains(&name.as_str()));
    let inside = request.iter().find(|(name, value)| match name.as_str() {
        "debug" => *value == &json!(true),
        "stdin_failure" => *value == &json!("ignore"),
        name => !FIELDS.contains(&name.trim_end_matches("_b64")),
    });
    let name = beside.or(inside.map(|(name, _)| name))?;
    Some(match name.as_str() {
        "max_output_bytes" => "exec.cap".into(),
        "stdin_failure" | "debug" | "sandbox" | "backend" => format!("exec.{name}"),
        _ => name.clone(),
    })
}

fn perform(message: &Value, run: fn(Request) -> io::Result<Ended>) -> Value {
    let began = Instant::now();
    let ended = match run(Request::of(message["request"].clone(), began)) {
        Ok(ended) => ended,
        Err(why) => return failed("execution", &why.to_string()),
    };
    let mut err = ended.err;
    if ended.late {
        let joint = if err.is_empty() { "" } else { "\n" };
        err.extend_from_slice(format!("{joint}process timed out").as_bytes());
    }
    let code = if ended.late { None } else { ended.status.code() };
    json!({"result": {"success": code == Some(0), "stdout": stream(&ended.out),
        "stderr": stream(&err), "exit_code": code, "output": null,
        "duration_ms": began.elapsed().as_millis() as u64}})
}

pub fn main(name: &str, version: &str, run: fn(Request) -> io::Result<Ended>) -> io::Result<()> {
    let answer = |message: &Value, serving: bool| match message["op"].as_str().unwrap_or("") {
        "hello" => json!({"result": {"protocol": 1, "nonce": message["nonce"],
            "pid": std::process::id(), "capabilities": ["exec", "exec.bytes"],
            "implementation": {"name": name, "version": version, "language": "Rust"},
            "constants": {"grace_ms": 5000, "tick_ms": 100}}}),
        "bye" => json!({"result": {}}),
        op => match (op == "exec.run").then(|| unknown(message)).unwrap_or(Some(op.into())) {
            Some(what) => json!({"unsupported": {"capability": what, "why": "not in this shim"}}),
            None if serving => failed("invalid_input", "programs are run in run mode"),
            None => perform(message, run),
        },
    };
    let reply = |text: &str, serving: bool| {
        let message: Value = serde_json::from_str(text).unwrap();
        let mut said = answer(&message, serving);
        said["id"] = message["id"].clone();
        (message, said.to_string())
    };
    let words: Vec<String> = env::args().collect();
    match words[1].as_str() {
        "version" => println!("{version}"),
        "serve" => {
            for line in io::stdin().lines() {
                println!("{}", reply(&line?, true).1);
            }
        }
        _ => {
            let (message, line) = reply(&fs::read_to_string(&words[2])?, false);
            fs::write(words[3].clone() + ".new", line)?;
            fs::rename(words[3].clone() + ".new", &words[3])?; // atomic, so that no reader sees half an answer
            if let Some(hold) = message["hold"].as_str() {
                fs::read(hold)?;
            }
        }
    }
    Ok(())
}
