//! A shim for boxspec, contract backend. Four places say FILL IN: name, the features that your
//! sandbox lacks, its claims, and its command line. Until then programs are confined by bubblewrap,
//! so that `boxspec smoke` and `boxspec run` answer at once. The other files need no change.

mod environment;
mod probe;
mod running;
mod session;

use protocol::json::field;
use protocol::{object, Operation};
use std::path::Path;
use std::process::Command;

// FILL IN: the name and version of your sandbox, and how it confines.
const IMPLEMENTATION: &str = "my-implementation";
const VERSION: &str = "0.1";
const NAME: &str = "mine";
const MECHANISM: &str = "namespaces";

// FILL IN: what your sandbox does not have: "open network", "cache", or a profile.
const LACKS: [&str; 2] = ["cache", "full-dev"];

// FILL IN: its claims: "fully", or the reason why an aspect is not enforced.
const CLAIMS: [(&str, &str); 5] = [
    ("fs-write", "fully"),
    ("fs-metadata", "fully"),
    ("process", "fully"),
    ("network", "this sandbox leaves the network open"),
    ("ipc", "this sandbox shares queues, shared memory and sockets with the host"),
];

/// FILL IN: the command that runs `argv` in your sandbox. Programs may write in `root` (not under
/// the profile read-only) and in `scratch`, a private directory outside the root, and start in
/// `cwd`.
fn command(argv: &[&str], root: &Path, scratch: &Path, cwd: &Path, profile: &str) -> Command {
    // The PATH of a request must not choose the sandbox.
    let mut bwrap = Command::new(probe::found("bwrap"));
    bwrap.args(["--ro-bind", "/", "/", "--dev", "/dev", "--unshare-user", "--unshare-pid"]);
    bwrap.args(["--proc", "/proc", "--die-with-parent", "--new-session"]);
    bwrap.arg("--bind").args([scratch, scratch]);
    bwrap.arg(if profile == "read-only" { "--ro-bind" } else { "--bind" }).args([root, root]);
    bwrap.arg("--chdir").arg(cwd).arg("--").args(argv);
    bwrap
}

const OPERATIONS: [Operation; 2] = [
    Operation {
        name: "backend.probe",
        fields: "backend profile egress",
        take: probe::probe,
        only_run: |_| true,
    },
    Operation {
        name: "backend.run",
        fields: "backend on_unavailable context calls",
        take: session::session,
        only_run: |_| true,
    },
];

fn main() -> std::io::Result<()> {
    let about = object! {"name": IMPLEMENTATION, "version": VERSION, "language": "Rust"};
    let backend = object! {"mechanism": MECHANISM, "lacks": LACKS.to_vec()};
    let hello = object! {"implementation": about, "capabilities": vec!["backend"],
    "backends": field(NAME, backend)};
    protocol::main(hello, &OPERATIONS)
}
