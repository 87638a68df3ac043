// The standard library has the version of its compiler.
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap();
    let said = Command::new(rustc).arg("--version").output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    println!("cargo:rustc-env=VERSION={}", said.split(' ').nth(1).unwrap());
}
