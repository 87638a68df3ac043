// std::process: a Command in a group of its own, and a Child that is killed at the deadline.

mod request;
mod wire;

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};
use wire::{cannot, Ended, Request};

// The library has no wait with a limit: its users look from time to time.
const TICK: Duration = Duration::from_millis(10);

fn run(request: Request) -> std::io::Result<Ended> {
    use std::os::unix::process::CommandExt;
    let mut command: Command = request.command();
    let mut child = command.process_group(0).spawn().map_err(cannot("failed to spawn"))?;
    let streams = attend(&mut child, request.stdin);
    let [out, err] = match streams {
        Ok(both) => both,
        Err(why) => {
            // The machine has no thread left for this shim, and the child would run on.
            child.kill()?;
            child.wait()?;
            return Err(cannot("failed to spawn")(why));
        }
    };
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

/// Its input is written and its output read, by a thread each.
fn attend(child: &mut Child, stdin: Option<Vec<u8>>) -> std::io::Result<[JoinHandle<Vec<u8>>; 2]> {
    if let (Some(bytes), Some(mut pipe)) = (stdin, child.stdin.take()) {
        Builder::new().spawn(move || pipe.write_all(&bytes))?;
    }
    Ok([collect(child.stdout.take())?, collect(child.stderr.take())?])
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
    wire::main("std::process", env!("VERSION"), run)
}
