//! Read a string of JSON.

use crate::parse::Reader;

impl Reader<'_> {
    pub fn text(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('"')?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                '\0'..='\x1f' => return None,
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.unit()?;
                let pair = 0xd800..0xe000; // a half of a pair needs the other one
                let other = if pair.contains(&unit) { Some(self.second()?) } else { None };
                let mut decoded = char::decode_utf16([unit].into_iter().chain(other));
                decoded.next()?.ok()?
            }
            other => "\"\\/".contains(other).then_some(other)?,
        })
    }

    fn second(&mut self) -> Option<u16> {
        self.rest = self.rest.strip_prefix("\\u")?;
        self.unit()
    }

    fn unit(&mut self) -> Option<u16> {
        let (digits, after) = self.rest.split_at_checked(4)?;
        self.rest = after;
        let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| plain)
    }
}
