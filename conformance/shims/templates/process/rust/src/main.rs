//! A shim for boxspec, contract process. Three places say FILL IN: name, capabilities, and a
//! handle, in handle.rs. Until then programs are started by std::process, so that `boxspec smoke`
//! and `boxspec run` answer at once. The other files need no change.

mod bridge;
mod handle;
mod opening;
mod reading;
mod script;
mod steps;

use protocol::{object, Operation};

// FILL IN: the name and version of your implementation.
const NAME: &str = "my-implementation";
const VERSION: &str = "0.1";

// FILL IN: its capabilities, by their names in shim-protocol.md. All others are refused.
const CAPABILITIES: [&str; 1] = ["process"];

const OPERATIONS: [Operation; 2] = [
    Operation {
        name: "process.script",
        fields: "handles steps",
        take: script::process_script,
        only_run: |_| true,
    },
    Operation {
        name: "process.bridge",
        fields: "request",
        take: bridge::process_bridge,
        only_run: |_| true,
    },
];

fn main() -> std::io::Result<()> {
    let about = object! {"name": NAME, "version": VERSION, "language": "Rust"};
    let hello = object! {"implementation": about, "capabilities": CAPABILITIES.to_vec()};
    protocol::main(hello, &OPERATIONS)
}
