//! Texts and bytes of a request, and base64.

use crate::json::Json;
use crate::{invalid, Refusal};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Return the bytes of a field, which has the suffix _b64 if they are not UTF-8.
pub fn content(from: &Json, name: &str) -> Vec<u8> {
    let encoded = from.get(&format!("{name}_b64")).and_then(Json::as_text);
    encoded.map_or_else(|| from.text(name).as_bytes().to_vec(), decode)
}

/// Return the text of a field. It fails if the bytes are not UTF-8: this shim has no use for them.
pub fn text_of(from: &Json, name: &str) -> Result<String, Refusal> {
    String::from_utf8(content(from, name)).map_err(|_| invalid(format!("`{name}` is not UTF-8")))
}

pub fn encode(data: &[u8]) -> String {
    let four = |three: &[u8]| {
        let byte = |at: usize| u32::from(*three.get(at).unwrap_or(&0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        [0, 1, 2, 3].map(|at| match at <= three.len() {
            true => char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        })
    };
    data.chunks(3).flat_map(four).collect()
}

pub fn decode(text: &str) -> Vec<u8> {
    let digit = |byte: u8| DIGITS.iter().position(|each| *each == byte);
    let digits: Vec<usize> = text.bytes().filter_map(digit).collect();
    let three = |four: &[usize]| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        [16, 8, 0].into_iter().map(move |shift| (bits >> shift) as u8).take(four.len() - 1)
    };
    digits.chunks(4).flat_map(three).collect()
}
