// Calls only Command and Child of std::process, for ../tries.

#[path = "../asked.rs"]
mod asked;

use asked::Asked;
use std::io::{Result, Write};
use std::os::unix::process::CommandExt;
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

fn run(asked: Asked) -> Result<(Output, bool)> {
    let began = Instant::now();
    let mut child = asked.command().process_group(0).spawn()?;
    if let (Some(text), Some(mut pipe)) = (asked.input, child.stdin.take()) {
        thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
    let mut late = false;
    if let Some(limit) = asked.limit {
        while child.try_wait()?.is_none() {
            late = began.elapsed() >= limit;
            if late {
                child.kill()?;
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    Ok((child.wait_with_output()?, late))
}

fn main() {
    asked::tell(run)
}
