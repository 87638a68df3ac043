// Answers each line N on stdin with the nanoseconds of N runs of /bin/true.
use std::io::BufRead;
use std::process::Command;
use std::time::Instant;

fn once() -> String {
    let start = Instant::now();
    let output = Command::new("/bin/true").output().expect("/bin/true");
    let took = start.elapsed();
    assert!(output.status.success());
    took.as_nanos().to_string()
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let n: usize = line.expect("a line").parse().expect("a number");
        let times: Vec<String> = (0..n).map(|_| once()).collect();
        println!("{}", times.join(" "));
    }
}
