//! The version of globset that is linked, from the lock file, for hello.

fn main() {
    println!("cargo:rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let behind = lock.split("name = \"globset\"\nversion = \"").nth(1).expect("globset");
    println!("cargo:rustc-env=GLOBSET_VERSION={}", behind.split('"').next().unwrap());
}
