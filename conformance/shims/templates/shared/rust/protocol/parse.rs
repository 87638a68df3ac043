//! Read one value of JSON. Of a name that is given twice the last value counts.

use crate::json::Json;

pub(crate) struct Reader<'a> {
    pub rest: &'a str,
    room: usize, // how many levels may follow, so that the stack is not exhausted
}

pub fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { rest: text, room: 1000 };
    let value = reader.value();
    reader.space();
    value.filter(|_| reader.rest.is_empty()).ok_or_else(|| {
        format!("no JSON at byte {}, or too many levels", text.len() - reader.rest.len())
    })
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn eat(&mut self, word: &str) -> Option<()> {
        self.space();
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    pub fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        Some(next)
    }

    fn value(&mut self) -> Option<Json> {
        self.space();
        match self.rest.chars().next()? {
            'n' => self.eat("null").map(|()| Json::Null),
            't' => self.eat("true").map(|()| Json::Bool(true)),
            'f' => self.eat("false").map(|()| Json::Bool(false)),
            '"' => self.text().map(Json::Text),
            '[' => self.each("[", "]", Self::value).map(Json::List),
            '{' => {
                self.each("{", "}", Self::field).map(|all| Json::Object(all.into_iter().collect()))
            }
            _ => self.number(),
        }
    }

    fn field(&mut self) -> Option<(String, Json)> {
        self.space();
        let key = self.text()?;
        self.eat(":")?;
        Some((key, self.value()?))
    }

    fn each<T>(
        &mut self,
        open: &str,
        close: &str,
        one: fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.eat(open)?;
        self.room = self.room.checked_sub(1)?;
        let mut found = Vec::new();
        if self.eat(close).is_none() {
            found.push(one(self)?);
            while self.eat(",").is_some() {
                found.push(one(self)?);
            }
            self.eat(close)?;
        }
        self.room += 1;
        Some(found)
    }

    fn number(&mut self) -> Option<Json> {
        let end = self.rest.find(|c| !"+-.eE0123456789".contains(c)).unwrap_or(self.rest.len());
        let (word, after) = self.rest.split_at(end);
        let (mantissa, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let whole = whole.strip_prefix('-').unwrap_or(whole);
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let plain = whole == "0" || !whole.starts_with('0');
        if !plain || ![whole, fraction, exponent].into_iter().all(digits) {
            return None;
        }
        self.rest = after;
        Some(Json::Number(word.to_owned()))
    }
}
