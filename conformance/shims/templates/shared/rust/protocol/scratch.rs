//! A new empty directory, which is removed when the value is dropped.

use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::{env, process};

pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Scratch> {
        let above = fs::canonicalize(env::temp_dir())?;
        for number in 0.. {
            let folder = above.join(format!("{name}-{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(why) if why.kind() == ErrorKind::AlreadyExists => continue,
                done => return done.map(|()| Scratch(folder)),
            }
        }
        unreachable!()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
