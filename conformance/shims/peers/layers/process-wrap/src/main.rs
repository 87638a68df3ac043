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
use wire::{Ended, Request};

const GRACE: Duration = Duration::from_secs(5);
// The library has no wait with a limit: its users look from time to time.
const TICK: Duration = Duration::from_millis(10);

fn run(request: Request) -> std::io::Result<Ended> {
    let mut command = CommandWrap::from(request.command());
    let mut child = command.wrap(ProcessGroup::leader()).spawn()?;
    if let (Some(bytes), Some(mut pipe)) = (request.stdin, child.stdin().take()) {
        thread::spawn(move || pipe.write_all(&bytes));
    }
    let out = collect(child.stdout().take());
    let err = collect(child.stderr().take());
    let mut late = false;
    let mut status = wait(child.as_mut(), request.deadline)?;
    if status.is_none() {
        late = true;
        child.signal(libc::SIGTERM)?;
        status = wait(child.as_mut(), Some(Instant::now() + GRACE))?;
    }
    if status.is_none() {
        child.start_kill()?;
    }
    let status = status.map_or_else(|| child.wait(), Ok)?;
    Ok(Ended { status, late, out: out.join().unwrap(), err: err.join().unwrap() })
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
