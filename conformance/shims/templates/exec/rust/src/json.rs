// As much JSON as a shim needs, so that it builds without a network. This file needs no
// change; in a project with dependencies use serde_json instead.

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    pub fn list(&self) -> &[Json] {
        if let Json::List(items) = self {
            items
        } else {
            &[]
        }
    }

    pub fn fields(&self) -> &[(String, Json)] {
        if let Json::Object(fields) = self {
            fields
        } else {
            &[]
        }
    }

    pub fn write(&self) -> String {
        match self {
            Json::Null => "null".into(),
            Json::Bool(yes) => yes.to_string(),
            Json::Number(number) => number.to_string(),
            Json::Text(text) => quoted(text),
            Json::List(items) => {
                let items: Vec<_> = items.iter().map(Json::write).collect();
                format!("[{}]", items.join(","))
            }
            Json::Object(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| quoted(key) + ":" + &value.write()).collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    let each = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        '\0'..='\x1f' => format!("\\u{:04x}", c as u32),
        _ => c.to_string(),
    });
    format!("\"{}\"", each.collect::<String>())
}

pub fn object(fields: Vec<(&str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub fn texts(pairs: &[(&str, &str)]) -> Json {
    object(pairs.iter().map(|&(key, text)| (key, Json::Text(text.to_owned()))).collect())
}
