// std::process: a Command in a group of its own, and a Child that is killed at the deadline.

mod request;
mod wire;

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use wire::{cannot, Ended, Request};

// The library has no wait with a limit: its users look from time to time.
const TICK: Duration = Duration::from_millis(10);

fn run(request: Request) -> std::io::Result<Ended> {
    use std::os::unix::process::CommandExt;
    let mut command: Command = request.command();
    let mut child = command.process_group(0).spawn().map_err(cannot("failed to spawn"))?;
    if let (Some(bytes), Some(mut pipe)) = (request.stdin, child.stdin.take()) {
        thread::spawn(move || pipe.write_all(&bytes));
    }
    let out = collect(child.stdout.take());
    let err = collect(child.stderr.take());
    let (status, late) =
        wait(&mut child, request.deadline).map_err(cannot("wait timeout error"))?;
    Ok(Ended { status, late, out: out.join().unwrap(), err: err.join().unwrap() })
}

fn wait(child: &mut Child, deadline: Option<Instant>) -> std::io::Result<(ExitStatus, bool)> {
    let Some(deadline) = deadline else { return Ok((child.wait()?, false)) };
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            child.kill()?;
            return Ok((child.wait()?, true));
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
    wire::main("std::process", env!("VERSION"), run)
}
