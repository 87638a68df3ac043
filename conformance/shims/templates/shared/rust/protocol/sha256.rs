//! SHA-256, which the standard library does not have, and the texts of streams.

use crate::bytes::encode;
use crate::json::Json;
use crate::object;

/// Return the text of a stream, or its digest if it has more than 1 MiB.
pub fn stream(data: &[u8]) -> Json {
    let text = String::from_utf8_lossy(data);
    let raw = text.as_bytes();
    if raw.len() <= 1 << 20 {
        return Json::from(&*text);
    }
    object! {"bytes": raw.len(), "sha256": hex(raw), "head_b64": encode(&raw[..4096]),
    "tail_b64": encode(&raw[raw.len() - 4096..])}
}

/// Return the digest in hexadecimal.
pub fn hex(data: &[u8]) -> String {
    let mut padded = data.to_vec();
    padded.push(0x80);
    padded.resize((data.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend((data.len() as u64 * 8).to_be_bytes());
    let (keys, mut state) = (roots::<64>(3), roots::<8>(2));
    for block in padded.chunks(64) {
        mix(block, &keys, &mut state);
    }
    state.map(|word| format!("{word:08x}")).concat()
}

fn mix(block: &[u8], keys: &[u32; 64], state: &mut [u32; 8]) {
    let turned = |x: u32, by: [u32; 3]| by.map(|bits| x.rotate_right(bits));
    let mut words = [0u32; 64];
    for (at, byte) in block.iter().enumerate() {
        words[at / 4] = words[at / 4] << 8 | u32::from(*byte);
    }
    for at in 16..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let [x, y, _] = turned(early, [7, 18, 0]);
        let [z, w, _] = turned(late, [17, 19, 0]);
        let sum = words[at - 16].wrapping_add(x ^ y ^ early >> 3);
        words[at] = sum.wrapping_add(words[at - 7]).wrapping_add(z ^ w ^ late >> 10);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, key) in words.iter().zip(keys) {
        let [x, y, z] = turned(e, [6, 11, 25]);
        let first = h.wrapping_add(x ^ y ^ z).wrapping_add(e & f ^ !e & g);
        let first = first.wrapping_add(*key).wrapping_add(*word);
        let [x, y, z] = turned(a, [2, 13, 22]);
        let second = (x ^ y ^ z).wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b) = (g, f, e, d.wrapping_add(first), c, b, a);
        a = first.wrapping_add(second);
    }
    for (into, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *into = into.wrapping_add(word);
    }
}

/// Return the first 32 bits after the point of the square or cube roots of the first primes.
fn roots<const N: usize>(power: u32) -> [u32; N] {
    let primes = (2..).filter(|number| (2..*number).all(|factor| number % factor != 0));
    let mut found = [0; N];
    for (into, prime) in found.iter_mut().zip(primes) {
        // Find the greatest root with root^power <= prime * 2^(32 * power), bit by bit.
        let limit: u128 = prime << (32 * power);
        for bit in (0..36).rev() {
            let root: u128 = *into | 1 << bit;
            if root.pow(power) <= limit {
                *into = root;
            }
        }
    }
    found.map(|root| root as u32)
}
