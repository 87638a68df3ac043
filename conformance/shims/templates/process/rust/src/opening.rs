//! Make a command of a request. This file needs no change.

use protocol::json::Json;
use protocol::Refusal;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

pub fn command(request: &Json) -> Command {
    let mut command = Command::new(request.text("program"));
    command.args(request.list("args").iter().filter_map(Json::as_text));
    if request.get("current_dir").is_some() {
        command.current_dir(request.text("current_dir"));
    }
    if let Some(env @ Json::Object(_)) = request.get("env") {
        command.env_clear().envs(env.pairs("clear_and_set"));
    }
    command
}

/// Set the non-blocking mode of a pipe. The standard library does so only for sockets, but by a
/// system call for all descriptors.
pub fn without_blocking(pipe: OwnedFd) -> io::Result<OwnedFd> {
    let socket = UnixStream::from(pipe);
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

pub fn execution(why: io::Error) -> Refusal {
    Refusal::Failed("execution", why.to_string())
}
