//! Run one program to its end, within a time limit. Your own function replaces this file.

use protocol::signals::{name, send_to_group, SIGHUP, SIGINT, SIGKILL, SIGTERM};
use std::io::{Read, Result, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const GRACE: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(5);

// Of the C library, which the standard library links anyway.
extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
}

static RECEIVED: AtomicI32 = AtomicI32::new(0);

extern "C" fn receive(number: i32) {
    RECEIVED.store(number, SeqCst);
}

/// Why the program was ended.
pub enum Reason {
    Timeout,
    Interrupted(String), // by a signal to this process
}

/// How a program has ended.
pub struct Ending {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub ended: Option<Reason>,
}

/// Run a program in a process group of its own. At the end of the limit, and after a signal to this
/// process, the group gets SIGTERM, and SIGKILL after the grace.
pub fn run(command: &mut Command, input: String, limit: Duration) -> Result<Ending> {
    for number in [SIGINT, SIGTERM, SIGHUP] {
        // SAFETY: the handler only stores a number.
        unsafe { signal(number, receive) };
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.process_group(0).spawn()?;
    let started = Instant::now();
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let mut ended = None;
    let mut last = None; // when SIGKILL is due
    let status = loop {
        let received = RECEIVED.load(SeqCst);
        if last.is_some_and(|last| Instant::now() >= last) {
            send_to_group(SIGKILL, child.id());
        } else if last.is_none() && (received != 0 || started.elapsed() >= limit) {
            let interrupted = || Reason::Interrupted(name(received));
            ended = Some(if received == 0 { Reason::Timeout } else { interrupted() });
            send_to_group(SIGTERM, child.id());
            last = Some(Instant::now() + GRACE);
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(TICK);
    };
    send_to_group(SIGKILL, child.id()); // the group may outlive its leader
    let [out, err] = [out, err].map(|each| each.join().unwrap_or_default());
    Ok(Ending { status, out, err, ended })
}

/// Read a stream to its end on a thread.
fn collect(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut data = Vec::new();
        let _ = from.map(|mut stream| stream.read_to_end(&mut data));
        data
    })
}
