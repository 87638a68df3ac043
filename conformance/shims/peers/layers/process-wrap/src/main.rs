// process-wrap: its ProcessGroup makes a group, signals it, and waits for it.

#[path = "../../rust-std/src/request.rs"]
mod request;
#[path = "../../rust-std/src/wire.rs"]
mod wire;

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};
use std::io::{Read, Write};
use std::process::ExitStatus;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wire::{cannot, Ended, Request};

const GRACE: Duration = Duration::from_secs(5);
// The library has no wait with a limit: its users look from time to time.
const TICK: Duration = Duration::from_millis(10);

fn run(request: Request) -> std::io::Result<Ended> {
    let mut command = CommandWrap::from(request.command());
    let mut child =
        command.wrap(ProcessGroup::leader()).spawn().map_err(cannot("failed to spawn"))?;
    if let (Some(bytes), Some(mut pipe)) = (request.stdin, child.stdin().take()) {
        thread::spawn(move || pipe.write_all(&bytes));
    }
    let out = collect(child.stdout().take());
    let err = collect(child.stderr().take());
    let (status, late) =
        end(child.as_mut(), request.deadline).map_err(cannot("wait timeout error"))?;
    Ok(Ended { status, late, out: out.join().unwrap(), err: err.join().unwrap() })
}

/// SIGTERM to the group at the deadline, SIGKILL behind the grace.
fn end(
    child: &mut dyn ChildWrapper,
    deadline: Option<Instant>,
) -> std::io::Result<(ExitStatus, bool)> {
    if let Some(status) = wait(child, deadline)? {
        return Ok((status, false));
    }
    child.signal(libc::SIGTERM)?;
    let status = match wait(child, Some(Instant::now() + GRACE))? {
        Some(status) => status,
        None => {
            child.start_kill()?;
            child.wait()?
        }
    };
    Ok((status, true))
}

/// None when the deadline has passed first.
fn wait(
    child: &mut dyn ChildWrapper,
    deadline: Option<Instant>,
) -> std::io::Result<Option<ExitStatus>> {
    let Some(deadline) = deadline else { return child.wait().map(Some) };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(left.min(TICK));
    }
}

/// All of a stream, read beside the other one.
fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut data = Vec::new();
        let _ = from.map(|mut stream| stream.read_to_end(&mut data));
        data
    })
}

fn main() -> std::io::Result<()> {
    wire::main("process-wrap", env!("CARGO_PKG_VERSION"), run)
}
