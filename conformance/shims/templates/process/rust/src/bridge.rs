//! A bridge: a program whose streams are connected with the shim's own. This file needs no change.

use crate::handle::Running;
use crate::script::REQUEST;
use crate::steps::told;
use protocol::json::Json;
use protocol::{object, refuse_others, Refusal};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// Return a second descriptor: the streams of the standard library have buffers.
fn own(stream: BorrowedFd) -> io::Result<File> {
    stream.try_clone_to_owned().map(File::from)
}

pub fn process_bridge(asked: &Json) -> Result<Json, Refusal> {
    let request = asked.get("request").unwrap_or(&Json::Null);
    refuse_others(request, REQUEST, "process")?;
    let bridged = Running::open(&object! {"request": request.clone()})?;
    let mut input = own(io::stdin().as_fd())?;
    if let Some(pipe) = bridged.stdin.lock().unwrap().take() {
        thread::spawn(move || io::copy(&mut input, &mut &*pipe));
    }
    let ends = [own(io::stdout().as_fd())?, own(io::stderr().as_fd())?];
    thread::scope(|scope| {
        for (source, mut target) in bridged.outputs.iter().zip(ends) {
            let mut source = source.as_ref();
            scope.spawn(move || source.as_mut().map(|source| io::copy(source, &mut target)));
        }
    });
    Ok(told(bridged.wait(None)?))
}
