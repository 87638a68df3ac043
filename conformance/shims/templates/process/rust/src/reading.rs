//! Read from a pipe. This file needs no change.

use crate::opening::execution;
use protocol::bytes::encode;
use protocol::json::Json;
use protocol::sha256::hex;
use protocol::{object, Refusal};
use std::fs::File;
use std::io::Read;

pub fn read_until(mut pipe: &File, end: &[u8]) -> Result<Json, Refusal> {
    let (mut data, mut one) = (vec![], [0]);
    while !data.ends_with(end) {
        if pipe.read(&mut one).map_err(execution)? == 0 {
            return Ok(object! {"data_b64": encode(&data), "eof": true});
        }
        data.push(one[0]);
    }
    Ok(object! {"data_b64": encode(&data), "eof": false})
}

pub fn read_eof(mut pipe: &File) -> Result<Json, Refusal> {
    let mut data = vec![];
    pipe.read_to_end(&mut data).map_err(execution)?;
    let told = object! {"bytes": data.len(), "sha256": hex(&data)};
    if data.len() > 1 << 16 {
        return Ok(told);
    }
    Ok(told.with(&object! {"data_b64": encode(&data)}))
}
