// The two modes of the shim protocol, run and serve. This file needs no change.

mod json;
mod parse;
mod run;

use json::Json::{self, List, Null, Number, Text};
use json::{object, texts};
use run::{run, ABOUT, CAPABILITIES, CONSTANTS, FIELDS};

fn answer(message: &Json, serving: bool) -> (&'static str, Json) {
    let op = message.get("op").and_then(Json::text).unwrap_or("");
    let request = message.get("request").cloned().unwrap_or(Null);
    let known = |(name, _): &(String, Json)| FIELDS.contains(&name.as_str());
    match op {
        "hello" => (
            "result",
            object(vec![
                ("protocol", Number(1)),
                ("nonce", message.get("nonce").cloned().unwrap_or(Null)),
                ("pid", Number(std::process::id().into())),
                ("implementation", texts(&ABOUT)),
                ("capabilities", List(CAPABILITIES.map(|name| Text(name.to_owned())).to_vec())),
                ("constants", object(CONSTANTS.map(|(name, ms)| (name, Number(ms))).to_vec())),
            ]),
        ),
        "bye" => ("result", object(vec![])),
        "exec.run" if request.fields().iter().all(known) && message.get("sandbox").is_none() => {
            if serving {
                let said = [("kind", "invalid_input"), ("message", "programs are run in run mode")];
                return ("error", texts(&said));
            }
            run(&request).map_or_else(
                |why| ("error", texts(&[("kind", "execution"), ("message", &why.to_string())])),
                |result| ("result", result),
            )
        }
        _ => ("unsupported", texts(&[("capability", op), ("why", "not in this shim")])),
    }
}

fn reply(text: &str, serving: bool) -> (Json, String) {
    let message = parse::parse(text).unwrap_or(Null);
    let (kind, said) = answer(&message, serving);
    let id = message.get("id").cloned().unwrap_or(Null);
    let line = object(vec![("id", id), (kind, said)]).write();
    (message, line)
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    if words[1] == "serve" {
        for line in std::io::stdin().lines() {
            println!("{}", reply(&line?, true).1);
        }
        return Ok(());
    }
    let (message, line) = reply(&std::fs::read_to_string(&words[2])?, false);
    std::fs::write(words[3].clone() + ".new", line)?;
    std::fs::rename(words[3].clone() + ".new", &words[3])?; // a reader never sees part of an answer
    if let Some(hold) = message.get("hold").and_then(Json::text) {
        std::fs::read(hold)?;
    }
    Ok(())
}
