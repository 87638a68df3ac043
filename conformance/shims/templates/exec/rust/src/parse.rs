// Reads one value of JSON. This file needs no change.

use crate::json::Json;

/// Return None if the text is not JSON or has a number that no request contains.
pub fn parse(text: &str) -> Option<Json> {
    let mut rest = text;
    let value = value(&mut rest)?;
    rest.trim().is_empty().then_some(value)
}

fn eat(rest: &mut &str, word: &str) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(word)?;
    Some(())
}

fn value(rest: &mut &str) -> Option<Json> {
    *rest = rest.trim_start();
    match rest.chars().next()? {
        'n' => eat(rest, "null").map(|()| Json::Null),
        't' => eat(rest, "true").map(|()| Json::Bool(true)),
        'f' => eat(rest, "false").map(|()| Json::Bool(false)),
        '"' => text(rest).map(Json::Text),
        '[' => each(rest, "[", "]", value).map(Json::List),
        '{' => each(rest, "{", "}", field).map(Json::Object),
        _ => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, behind) = rest.split_at(end);
            *rest = behind;
            digits.parse().ok().map(Json::Number)
        }
    }
}

fn field(rest: &mut &str) -> Option<(String, Json)> {
    *rest = rest.trim_start();
    let key = text(rest)?;
    eat(rest, ":")?;
    Some((key, value(rest)?))
}

fn each<T>(
    rest: &mut &str,
    open: &str,
    close: &str,
    one: fn(&mut &str) -> Option<T>,
) -> Option<Vec<T>> {
    eat(rest, open)?;
    let mut found = Vec::new();
    if eat(rest, close).is_some() {
        return Some(found);
    }
    loop {
        found.push(one(rest)?);
        if eat(rest, ",").is_none() {
            eat(rest, close)?;
            return Some(found);
        }
    }
}

fn text(rest: &mut &str) -> Option<String> {
    let mut units = Vec::new(); // UTF-16, because \u names its units
    let mut chars = rest.strip_prefix('"')?.chars();
    loop {
        let c = match chars.next()? {
            '"' => break,
            '\\' => match chars.next()? {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let digits = chars.as_str().get(..4)?;
                    units.push(u16::from_str_radix(digits, 16).ok()?);
                    chars = chars.as_str()[4..].chars();
                    continue;
                }
                other => other,
            },
            other => other,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    *rest = chars.as_str();
    String::from_utf16(&units).ok()
}
