//! The steps of a script on one handle. This file needs no change.

use crate::handle::{Running, NAMES};
use crate::opening::execution;
use crate::reading::{read_eof, read_until};
use protocol::bytes::content;
use protocol::json::Json;
use protocol::signals::{self, SIGKILL, SIGTERM};
use protocol::{invalid, object, Refusal};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// Return the end of a child as a result.
pub fn told(status: Option<ExitStatus>) -> Json {
    let Some(status) = status else { return object! {"running": true} };
    match status.signal() {
        Some(number) => object! {"signaled": signals::name(number)},
        None => object! {"exited": status.code().unwrap_or(-1)},
    }
}

impl Running {
    pub fn step(&self, step: &Json) -> Result<Json, Refusal> {
        let stream = step.get("stream").and_then(Json::as_text).unwrap_or("stdin");
        let at = NAMES.iter().position(|name| *name == stream);
        let at = at.ok_or_else(|| invalid("there is no such stream"))?;
        let empty = || object! {};
        match step.text("step") {
            "streams" => {
                let [stdin, stdout, stderr] = *self.owned.lock().unwrap();
                Ok(object! {"stdin": stdin, "stdout": stdout, "stderr": stderr})
            }
            "take" => {
                let taken = std::mem::take(&mut self.owned.lock().unwrap()[at]);
                Ok(object! {"taken": taken})
            }
            "write" => self.write(&content(step, "data")),
            "read_until" => read_until(self.output(at)?, &content(step, "until")),
            "read_eof" => read_eof(self.output(at)?),
            "close_stdin" => {
                self.stdin.lock().unwrap().take();
                Ok(empty())
            }
            "poll" => self.wait(Some(Duration::ZERO)).map(told).map_err(execution),
            "wait" => {
                let limit = step.number("timeout_ms").map(Duration::from_millis);
                if limit.is_none() && self.owned.lock().unwrap()[0] {
                    self.stdin.lock().unwrap().take();
                }
                self.wait(limit).map(told).map_err(execution)
            }
            "terminate" => self.signal(SIGTERM).map(|()| empty()).map_err(execution),
            "kill" => self.signal(SIGKILL).map(|()| empty()).map_err(execution),
            "close" => self.close(step.number("grace_ms").unwrap_or(5000)).map_err(execution),
            other => Err(invalid(format!("there is no step {other}"))),
        }
    }

    fn output(&self, at: usize) -> Result<&File, Refusal> {
        let output = at.checked_sub(1).and_then(|at| self.outputs[at].as_ref());
        output.ok_or_else(|| Refusal::Failed("execution", "the stream is not piped".into()))
    }

    fn write(&self, data: &[u8]) -> Result<Json, Refusal> {
        let pipe = self.stdin.lock().unwrap().clone();
        let pipe = pipe.ok_or_else(|| Refusal::Failed("execution", "stdin is closed".into()))?;
        let mut written = 0;
        while written < data.len() {
            match (&*pipe).write(&data[written..]) {
                Ok(count) => written += count,
                Err(why) => {
                    let errno = match why.kind() {
                        ErrorKind::BrokenPipe => "EPIPE",
                        ErrorKind::WouldBlock => "EAGAIN",
                        _ => return Err(execution(why)),
                    };
                    return Ok(object! {"written": written, "errno": errno});
                }
            }
        }
        Ok(object! {"written": written})
    }

    fn close(&self, grace_ms: u64) -> std::io::Result<Json> {
        self.signal(SIGTERM)?;
        self.wait(Some(Duration::from_millis(grace_ms)))?;
        self.end()?;
        *self.owned.lock().unwrap() = [false; 3];
        Ok(told(self.wait(None)?).with(&object! {"detached_writers": false}))
    }
}
