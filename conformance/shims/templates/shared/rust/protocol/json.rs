//! As much JSON as a shim needs, so that it builds without a network. In a project with
//! dependencies use serde_json instead.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String), // as it was written, so that no digit is lost
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

/// `object! {"allowed": true}` makes an object.
#[macro_export]
macro_rules! object {
    ($($name:literal: $value:expr),*) => {
        $crate::json::Json::Object(std::collections::BTreeMap::from(
            [$(($name.to_string(), $crate::json::Json::from($value))),*]))
    };
}

/// Return an object with one field.
pub fn field(name: &str, value: impl Into<Json>) -> Json {
    Json::Object(BTreeMap::from([(name.to_owned(), value.into())]))
}

// The fields of an object. Without the field, and in a value of another type, they are empty.
impl Json {
    pub fn get(&self, name: &str) -> Option<&Json> {
        let Json::Object(fields) = self else { return None };
        fields.get(name)
    }

    pub fn fields(&self) -> impl Iterator<Item = (&String, &Json)> {
        let Json::Object(fields) = self else { return None.into_iter().flatten() };
        Some(fields).into_iter().flatten()
    }

    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Json::as_text).unwrap_or("")
    }

    pub fn list(&self, name: &str) -> &[Json] {
        let Some(Json::List(items)) = self.get(name) else { return &[] };
        items
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        let Json::Number(digits) = self.get(name)? else { return None };
        digits.parse().ok()
    }

    /// Return a list of pairs of texts, for example the variables of an environment.
    pub fn pairs(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        self.list(name).iter().filter_map(|pair| match pair {
            Json::List(pair) => Some((pair.first()?.as_text()?, pair.get(1)?.as_text()?)),
            _ => None,
        })
    }

    pub fn as_text(&self) -> Option<&str> {
        let Json::Text(text) = self else { return None };
        Some(text)
    }

    /// Return this object with the fields of another one.
    pub fn with(mut self, more: &Json) -> Json {
        if let Json::Object(fields) = &mut self {
            fields.extend(more.fields().map(|(name, value)| (name.clone(), value.clone())));
        }
        self
    }
}
