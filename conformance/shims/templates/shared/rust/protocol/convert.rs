//! Make a value of JSON from a value of Rust.

use crate::json::Json;

impl From<bool> for Json {
    fn from(yes: bool) -> Json {
        Json::Bool(yes)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Json {
            fn from(number: $number) -> Json {
                Json::Number(number.to_string())
            }
        }
    )*};
}
from_numbers!(i32, u32, u64, usize);

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}
