//! One run of one command, answered as `exec.run` does. This file needs no change.

use protocol::bytes::content;
use protocol::json::Json;
use protocol::sha256::stream;
use protocol::signals::{send_to_group, SIGKILL};
use protocol::{object, Refusal};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Return an object with `result` or `error`.
pub fn run(request: &Json, command: &mut Command) -> Json {
    let done = run_to_its_end(request, command).map(|result| object! {"result": result});
    done.unwrap_or_else(|why| {
        let message = format!("failed to run `{}`: {why}", request.text("program"));
        Refusal::Failed("execution", message).told()
    })
}

fn run_to_its_end(request: &Json, command: &mut Command) -> io::Result<Json> {
    let stdin = request.get("stdin").unwrap_or(&Json::Null);
    let data = match stdin {
        Json::Object(_) => Some(content(stdin, "bytes")),
        _ if stdin.as_text() != Some("null") => file_on_stdin()?,
        _ => None,
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.stdin(match stdin.as_text() {
        _ if data.is_some() => Stdio::piped(),
        Some("null") => Stdio::null(),
        _ => Stdio::inherit(),
    });
    let started = Instant::now();
    let mut child = command.spawn()?;
    if let (Some(data), Some(mut stdin)) = (data, child.stdin.take()) {
        thread::spawn(move || stdin.write_all(&data));
    }
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let limit = request.number("timeout_ms").map(Duration::from_millis);
    let mut late = false;
    while child.try_wait()?.is_none() || !out.is_finished() || !err.is_finished() {
        if !late && limit.is_some_and(|limit| started.elapsed() >= limit) {
            late = true;
            send_to_group(SIGKILL, child.id());
        }
        thread::sleep(Duration::from_millis(1));
    }
    let code = child.wait()?.code().filter(|_| !late);
    let [out, err] = [out, err].map(|each| each.join().unwrap_or_default());
    Ok(object! {"success": code == Some(0), "exit_code": code, "output": Json::Null,
    "stdout": stream(&out), "stderr": stream(&err),
    "duration_ms": started.elapsed().as_millis() as u64})
}

/// Return the content of stdin if it is a file: through /proc a program could open the file again
/// for writing, although it lies outside the sandbox.
fn file_on_stdin() -> io::Result<Option<Vec<u8>>> {
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut data = vec![];
    if !stdin.metadata()?.is_file() {
        return Ok(None);
    }
    stdin.read_to_end(&mut data).map(|_| Some(data))
}

/// Read a stream to its end on a thread.
fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut data = Vec::new();
        let _ = from.map(|mut stream| stream.read_to_end(&mut data));
        data
    })
}
