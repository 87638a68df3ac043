//! The two modes of boxspec's shim protocol, run and serve. This folder needs no change.
//! shim-protocol.md of boxspec describes requests and answers.

pub mod bytes;
mod convert;
pub mod json;
pub mod parse;
mod refusal;
pub mod scratch;
pub mod sha256;
pub mod signals;
mod strings;
mod write;

use json::Json;
pub use refusal::{invalid, Refusal};
use std::{env, fs, io, process};

/// An operation: its name, its fields, its function, and whether `serve` refuses the message.
pub struct Operation {
    pub name: &'static str,
    pub fields: &'static str,
    pub take: fn(&Json) -> Result<Json, Refusal>,
    pub only_run: fn(&Json) -> bool,
}

/// Refuse each field that the shim does not know: the kit forbids to ignore one.
pub fn refuse_others(given: &Json, known: &str, capability: &str) -> Result<(), Refusal> {
    match given.fields().find(|(name, _)| known.split(' ').all(|each| each != *name)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Refusal::Unsupported(capability.into(), format!("unknown field: {name}")))
        }
    }
}

fn take(asked: &Json, operations: &[Operation], serving: bool) -> Result<Json, Refusal> {
    let op = asked.text("op");
    let Some(known) = operations.iter().find(|each| each.name == op) else {
        return Err(Refusal::Unsupported(op.into(), "not in this shim".into()));
    };
    refuse_others(asked, &format!("id op hold {}", known.fields), op)?;
    if serving && (known.only_run)(asked) {
        return Err(invalid("programs are started in run mode only"));
    }
    (known.take)(asked)
}

fn reply(asked: &Json, hello: &Json, operations: &[Operation], serving: bool) -> Json {
    let result = match asked.text("op") {
        "hello" => {
            let nonce = asked.get("nonce").cloned();
            let told = object! {"protocol": 1, "nonce": nonce, "pid": process::id()};
            Ok(told.with(hello))
        }
        "bye" => Ok(object! {}),
        _ => take(asked, operations, serving),
    };
    let told = result.map_or_else(|why| why.told(), |result| object! {"result": result});
    told.with(&object! {"id": asked.get("id").cloned()})
}

/// Answer as the command line demands.
pub fn main(hello: Json, operations: &[Operation]) -> io::Result<()> {
    let words: Vec<String> = env::args().collect();
    if words[1] == "serve" {
        for line in io::stdin().lines() {
            let asked = parse::parse(&line?).unwrap_or(Json::Null);
            println!("{}", reply(&asked, &hello, operations, true));
            if asked.text("op") == "bye" {
                break;
            }
        }
        return Ok(());
    }
    let asked = parse::parse(&fs::read_to_string(&words[2])?).unwrap_or(Json::Null);
    let new = words[3].clone() + ".new";
    fs::write(&new, reply(&asked, &hello, operations, false).to_string())?;
    fs::rename(new, &words[3])?; // in one step: a reader never sees part of an answer
    if asked.get("hold").is_some() {
        fs::read(asked.text("hold"))?;
    }
    Ok(())
}
