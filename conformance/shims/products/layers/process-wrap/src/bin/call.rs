// Calls only ProcessGroup::leader() of process-wrap, for ../tries.

#[path = "../../../rust-std/src/asked.rs"]
mod asked;

use asked::Asked;
use process_wrap::std::{ChildWrapper, CommandWrap, ProcessGroup};
use std::io::{Result, Write};
use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

fn run(asked: Asked) -> Result<(Output, bool)> {
    let began = Instant::now();
    let mut child = CommandWrap::from(asked.command()).wrap(ProcessGroup::leader()).spawn()?;
    if let (Some(text), Some(mut pipe)) = (asked.input, child.stdin().take()) {
        thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
    let mut late = false;
    if let Some(limit) = asked.limit {
        if !ended_by(child.as_mut(), began, limit)? {
            late = true;
            child.signal(libc::SIGTERM)?;
            if !ended_by(child.as_mut(), Instant::now(), Duration::from_secs(5))? {
                child.start_kill()?;
            }
        }
    }
    Ok((child.wait_with_output()?, late))
}

fn ended_by(child: &mut dyn ChildWrapper, began: Instant, limit: Duration) -> Result<bool> {
    while child.try_wait()?.is_none() {
        if began.elapsed() >= limit {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(true)
}

fn main() {
    asked::tell(run)
}
