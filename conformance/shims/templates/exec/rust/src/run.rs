// A shim for boxspec. Five places say FILL IN: name, capabilities, constants, how to run a
// program, and the digest of a long output. Until then it runs programs by std::process, so that `boxspec smoke` and `boxspec run`
// answer at once. shim-protocol.md of boxspec describes requests and answers. The other files need
// no change.

use crate::json::object;
use crate::json::Json::{self, Bool, Null, Number, Text};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

// FILL IN: the name and version of your implementation.
pub const ABOUT: [(&str, &str); 3] =
    [("name", "my-implementation"), ("version", "0.1"), ("language", "Rust")];
// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
pub const CAPABILITIES: [&str; 1] = ["exec"];
// FILL IN: the grace period after SIGTERM, and the interval of your checks.
pub const CONSTANTS: [(&str, u64); 2] = [("grace_ms", 5000), ("tick_ms", 100)];
// The fields of a request that `run` knows: with another one it is refused.
pub const FIELDS: [&str; 6] = ["program", "args", "current_dir", "stdin", "env", "timeout_ms"];

/// FILL IN: one run of one program by your implementation.
pub fn run(request: &Json) -> std::io::Result<Json> {
    let mut command = Command::new(request.get("program").and_then(Json::text).unwrap_or(""));
    let args = request.get("args").map_or(&[][..], Json::list);
    command.args(args.iter().filter_map(Json::text)).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = request.get("current_dir").and_then(Json::text) {
        command.current_dir(folder);
    }
    if let Some(pairs) = request.get("env").and_then(|env| env.get("clear_and_set")) {
        let word = |pair: &Json, at: usize| pair.list()[at].text().unwrap_or("").to_owned();
        command.env_clear().envs(pairs.list().iter().map(|pair| (word(pair, 0), word(pair, 1))));
    }
    let stdin = request.get("stdin").cloned().unwrap_or(Null);
    let bytes = stdin.get("bytes").and_then(Json::text).map(str::to_owned);
    if stdin.text() == Some("null") {
        command.stdin(Stdio::null());
    } else if bytes.is_some() {
        command.stdin(Stdio::piped());
    }
    let started = Instant::now();
    let mut child = command.spawn()?;
    if let (Some(bytes), Some(mut pipe)) = (bytes, child.stdin.take()) {
        thread::spawn(move || pipe.write_all(bytes.as_bytes()));
    }
    let (send, ended) = mpsc::channel();
    let out = collect(child.stdout.take(), send.clone());
    let err = collect(child.stderr.take(), send);
    let limit = match request.get("timeout_ms") {
        Some(Number(ms)) => Duration::from_millis(*ms),
        _ => Duration::MAX,
    };
    let late = (0..2).any(|_| ended.recv_timeout(limit.saturating_sub(started.elapsed())).is_err());
    if late {
        child.kill()?;
    }
    let status = child.wait()?;
    let text = |data: &[u8]| Text(String::from_utf8_lossy(data).into_owned());
    Ok(object(vec![
        ("success", Bool(status.success())),
        ("stdout", text(&out.join().unwrap_or_default())), // FILL IN: its digest where it has more than 1 MiB
        ("stderr", text(&err.join().unwrap_or_default())),
        ("exit_code", status.code().map_or(Null, |code| Number(code as u64))),
        ("duration_ms", Number(started.elapsed().as_millis() as u64)),
        ("output", Null),
    ]))
}

/// Read a stream to its end on a thread, and send a message at the end.
fn collect(from: Option<impl Read + Send + 'static>, end: Sender<()>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut data = Vec::new();
        let _ = from.map(|mut stream| stream.read_to_end(&mut data));
        let _ = end.send(());
        data
    })
}
