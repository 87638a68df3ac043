// process-wrap: its ProcessGroup makes a group, signals it, and waits for it.

#[path = "../../rust-std/src/request.rs"]
mod request;
#[path = "../../rust-std/src/wire.rs"]
mod wire;

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};
use std::io::{Read, Write};
use std::process::ExitStatus;
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};
use wire::{cannot, Ended, Request};

const GRACE: Duration = Duration::from_secs(5);
// The library has no wait with a limit: its users look from time to time.
const TICK: Duration = Duration::from_millis(10);

fn run(request: Request) -> std::io::Result<Ended> {
    let mut command = CommandWrap::from(request.command());
    let mut child =
        command.wrap(ProcessGroup::leader()).spawn().map_err(cannot("failed to spawn"))?;
    let streams = attend(child.as_mut(), request.stdin);
    let [out, err] = match streams {
        Ok(both) => both,
        Err(why) => {
            // The machine has no thread left for this shim, and the child would run on.
            child.start_kill()?;
            child.wait()?;
            return Err(cannot("failed to spawn")(why));
        }
    };
    let (status, late) =
        end(child.as_mut(), request.deadline).map_err(cannot("wait timeout error"))?;
    Ok(Ended { status, late, out: out.join().unwrap(), err: err.join().unwrap() })
}

/// Send SIGTERM to the group at the deadline, and SIGKILL after the grace.
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

/// Return the status, or None if the deadline passes first.
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

/// Its input is written and its output read, by a thread each.
fn attend(
    child: &mut dyn ChildWrapper,
    stdin: Option<Vec<u8>>,
) -> std::io::Result<[JoinHandle<Vec<u8>>; 2]> {
    if let (Some(bytes), Some(mut pipe)) = (stdin, child.stdin().take()) {
        Builder::new().spawn(move || pipe.write_all(&bytes))?;
    }
    Ok([collect(child.stdout().take())?, collect(child.stderr().take())?])
}

/// All of a stream.
fn collect(from: Option<impl Read + Send + 'static>) -> std::io::Result<JoinHandle<Vec<u8>>> {
    Builder::new().spawn(move || {
        let mut data = Vec::new();
        let _ = from.map(|mut stream| stream.read_to_end(&mut data));
        data
    })
}

fn main() -> std::io::Result<()> {
    wire::main("process-wrap", env!("CARGO_PKG_VERSION"), run)
}
