//! Signals to other processes, and their names on Linux. The standard library has neither.

pub const SIGHUP: i32 = 1;
pub const SIGINT: i32 = 2;
pub const SIGKILL: i32 = 9;
pub const SIGTERM: i32 = 15;

const NAMES: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT \
    CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";

// Of the C library, which the standard library links anyway.
extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
}

/// Send a signal to a process group. It may outlive its leader.
pub fn send_to_group(number: i32, leader: u32) {
    // SAFETY: the call takes no pointers.
    unsafe { kill(-(leader as i32), number) };
}

pub fn name(number: i32) -> String {
    let name = NAMES.split(' ').nth(number as usize - 1).map(str::to_owned);
    format!("SIG{}", name.unwrap_or_else(|| number.to_string()))
}
