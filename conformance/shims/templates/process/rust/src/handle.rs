use crate::opening::{command, execution, without_blocking};
use protocol::json::Json;
use protocol::signals::{send_to_group, SIGKILL};
use protocol::{invalid, Refusal};
use std::fs::File;
use std::io::Result as IoResult;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub const NAMES: [&str; 3] = ["stdin", "stdout", "stderr"];

/// FILL IN: a running program of your implementation, and its streams.
pub struct Running {
    child: Mutex<Child>,
    pub pid: u32,
    pub stdin: Mutex<Option<Arc<File>>>, // a thread may close it while another one writes
    pub outputs: [Option<File>; 2],      // stdout and stderr
    pub owned: Mutex<[bool; 3]>,         // streams that the caller did not take
}

impl Running {
    pub fn open(asked: &Json) -> Result<Running, Refusal> {
        let modes = NAMES.map(|stream| asked.number(stream).unwrap_or(1));
        if modes.iter().any(|mode| *mode > 2) {
            return Err(invalid("a stream mode is 0, 1 or 2"));
        }
        let [stdin, stdout, stderr] = modes.map(|mode| match mode {
            0 => Stdio::inherit(),
            1 => Stdio::piped(),
            _ => Stdio::null(),
        });
        let mut command = command(asked.get("request").unwrap_or(&Json::Null));
        command.stdin(stdin).stdout(stdout).stderr(stderr).process_group(0);
        let mut child = command.spawn().map_err(execution)?;
        let pipe = child.stdin.take().map(OwnedFd::from);
        let pipe = if asked.get("nonblocking") == Some(&Json::Bool(true)) {
            pipe.map(without_blocking).transpose()?
        } else {
            pipe
        };
        let outputs =
            [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
        Ok(Running {
            pid: child.id(),
            child: Mutex::new(child),
            stdin: Mutex::new(pipe.map(|pipe| Arc::new(File::from(pipe)))),
            outputs: outputs.map(|pipe| pipe.map(File::from)),
            owned: Mutex::new(modes.map(|mode| mode == 1)),
        })
    }

    /// Return the status of the child, or None if it still runs after the limit.
    pub fn wait(&self, limit: Option<Duration>) -> IoResult<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            let status = self.child.lock().unwrap().try_wait()?;
            if status.is_some() || limit.is_some_and(|limit| started.elapsed() >= limit) {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Send a signal to the group, unless the child was reaped: its pid may belong to another one.
    pub fn signal(&self, number: i32) -> IoResult<()> {
        let mut child = self.child.lock().unwrap();
        if child.try_wait()?.is_none() {
            send_to_group(number, self.pid);
        }
        Ok(())
    }

    /// Leave no process.
    pub fn end(&self) -> IoResult<()> {
        send_to_group(SIGKILL, self.pid);
        self.wait(None).map(|_| ())
    }
}
