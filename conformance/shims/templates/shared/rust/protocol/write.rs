//! Write a value of JSON.

use crate::json::Json;
use std::fmt::{Display, Formatter, Result, Write};

impl Display for Json {
    fn fmt(&self, to: &mut Formatter) -> Result {
        match self {
            Json::Null => to.write_str("null"),
            Json::Bool(yes) => write!(to, "{yes}"),
            Json::Number(digits) => to.write_str(digits),
            Json::Text(text) => quoted(text, to),
            Json::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    write!(to, "{}{item}", if at == 0 { '[' } else { ',' })?;
                }
                to.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(fields) => {
                to.write_char('{')?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    to.write_str(if at == 0 { "" } else { "," })?;
                    quoted(name, to)?;
                    write!(to, ":{value}")?;
                }
                to.write_char('}')
            }
        }
    }
}

fn quoted(text: &str, to: &mut Formatter) -> Result {
    to.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(to, "\\{c}")?,
            '\0'..='\x1f' => write!(to, "\\u{:04x}", c as u32)?,
            _ => to.write_char(c)?,
        }
    }
    to.write_char('"')
}
