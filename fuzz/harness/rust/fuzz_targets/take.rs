#![no_main]
//! A parser of yours under cargo-fuzz, with the corpus and the dictionary of boxspec.

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

/// True if the parser accepts the text. Replace the body by a call of your parser.
fn take(text: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(text).is_ok()
}

/// A second JSON reader. It gives up below 128 levels, and then accepts.
fn is_json(text: &[u8]) -> bool {
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => std::str::from_utf8(text).is_ok(),
        Err(why) => why.to_string().starts_with("recursion limit"),
    }
}

fuzz_target!(|text: &[u8]| {
    // A block of exactly its size, so that a read after its end is detected.
    let block: Box<[u8]> = text.into();
    let taken = take(&block);
    assert_eq!(taken, take(&block), "again: a second time the outcome is another one");
    assert!(!taken || is_json(text), "taken: this is not well-formed, and is taken");
});
