//! Answers without a result.

use crate::json::Json;
use crate::object;
use std::io;

#[derive(Clone)]
pub enum Refusal {
    /// Of kind `error`: its kind and message.
    Failed(&'static str, String),
    /// Of kind `unsupported`: the name of a capability or operation, and the reason.
    Unsupported(String, String),
}

impl From<io::Error> for Refusal {
    fn from(why: io::Error) -> Refusal {
        Refusal::Failed("io", why.to_string())
    }
}

impl Refusal {
    /// The answer as a field of an object.
    pub fn told(&self) -> Json {
        match self {
            Refusal::Failed(kind, message) => {
                object! {"error": object! {"kind": *kind, "message": message.as_str()}}
            }
            Refusal::Unsupported(capability, why) => {
                let told = object! {"capability": capability.as_str(), "why": why.as_str()};
                object! {"unsupported": told}
            }
        }
    }
}

pub fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::Failed("invalid_input", message.into())
}
