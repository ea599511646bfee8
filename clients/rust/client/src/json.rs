//! Strict JSON: no key twice, numbers that fit in doubles, whole numbers exactly.

use crate::{need, Refused};
use std::collections::BTreeMap;

const MOST_BYTES: usize = 1 << 25;
const MOST_PARSED: usize = 160 << 20; // bytes once parsed, by the count of docs/table-format.md
const MOST_DIGITS: usize = 4000;
const DEEPEST: usize = 16;
const NO_JSON: Refused = Refused("the file must be whole JSON text, got something else");

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// Never -0; and the whole number, where it is written without point or exponent and fits.
    Number(f64, Option<i64>),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>), // sorted as the checksum wants keys: by the bytes of UTF-8
}

impl Json {
    /// The value of a text.
    pub fn parse(text: &str) -> Result<Json, Refused> {
        let mut from = Reader { text, next: 0 };
        let value = from.value(0)?;
        from.skip_space();
        (from.next == text.len()).then_some(value).ok_or(NO_JSON)
    }

    pub fn member(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(key),
            _ => None,
        }
    }

    pub fn is(&self, text: &str) -> bool {
        matches!(self, Json::Text(own) if own == text)
    }

    /// Appends the bytes that the checksum is taken of.
    pub fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Json::Null => to.push(b'z'),
            Json::Bool(value) => to.push(if *value { b't' } else { b'f' }),
            Json::Number(double, _) => encode_tagged(to, b'n', double.to_bits()),
            Json::Text(text) => encode_text(to, text),
            Json::List(list) => {
                encode_tagged(to, b'a', list.len() as u64);
                list.iter().for_each(|each| each.encode(to));
            }
            Json::Object(members) => {
                encode_tagged(to, b'o', members.len() as u64);
                for (key, value) in members {
                    encode_text(to, key);
                    value.encode(to);
                }
            }
        }
    }
}

fn encode_tagged(to: &mut Vec<u8>, tag: u8, bits: u64) {
    to.push(tag);
    to.extend(bits.to_le_bytes());
}

fn encode_text(to: &mut Vec<u8>, text: &str) {
    encode_tagged(to, b's', text.len() as u64);
    to.extend(text.as_bytes());
}

/// Refuses a file that is too large, by itself or once parsed.
pub fn need_modest(text: &[u8]) -> Result<(), Refused> {
    need(text.len() <= MOST_BYTES, "a file must be at most 2^25 bytes")?;
    let (mut parts, mut digits) = (text.len(), 0);
    for each in text {
        parts += match each {
            b',' => 40,
            b'[' => 500,
            b'{' | b':' => 2000,
            _ => 0,
        };
        digits = if each.is_ascii_digit() { digits + 1 } else { 0 };
        need(digits <= MOST_DIGITS, "a number must have at most 4000 digits in a row")?;
    }
    need(parts <= MOST_PARSED, "a file must have fewer members and elements")
}

struct Reader<'a> {
    text: &'a str,
    next: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.next).copied()
    }

    /// Goes past a byte, if it is the next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refused> {
        self.take(byte).then_some(()).ok_or(NO_JSON)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.next += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Refused> {
        need(depth <= DEEPEST, "the document must not be nested deeper than 16")?;
        self.skip_space();
        match self.peek() {
            Some(b'"') => Ok(Json::Text(self.quoted()?)),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Refused> {
        if !self.text[self.next..].starts_with(word) {
            return Err(NO_JSON);
        }
        self.next += word.len();
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Json, Refused> {
        let mut list = Vec::new();
        self.expect(b'[')?;
        self.skip_space();
        if self.take(b']') {
            return Ok(Json::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Json::List(list));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Refused> {
        let mut members = BTreeMap::new();
        self.expect(b'{')?;
        self.skip_space();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            let key = self.quoted()?;
            self.skip_space();
            self.expect(b':')?;
            let before = members.insert(key, self.value(depth + 1)?);
            need(before.is_none(), "keys must not repeat, got one twice")?;
            self.skip_space();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn quoted(&mut self) -> Result<String, Refused> {
        let mut text = String::new();
        self.expect(b'"')?;
        loop {
            let start = self.next;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.next += 1;
            }
            text.push_str(&self.text[start..self.next]);
            if self.take(b'"') {
                return Ok(text);
            }
            self.expect(b'\\')?;
            text.push(self.escaped()?);
        }
    }

    /// The character of an escape, behind its backslash.
    fn escaped(&mut self) -> Result<char, Refused> {
        let name = self.peek().ok_or(NO_JSON)?;
        self.next += 1;
        Ok(match name {
            b'"' | b'\\' | b'/' => char::from(name),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let half = Refused("text must be Unicode, got half a surrogate pair");
                let mut units = vec![self.hexadecimal()?];
                if (0xd800..0xdc00).contains(&units[0]) {
                    if !(self.take(b'\\') && self.take(b'u')) {
                        return Err(half);
                    }
                    units.push(self.hexadecimal()?);
                }
                let mut decoded = char::decode_utf16(units);
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(half),
                }
            }
            _ => return Err(NO_JSON),
        })
    }

    fn hexadecimal(&mut self) -> Result<u16, Refused> {
        let digits = self.text.get(self.next..self.next + 4).ok_or(NO_JSON)?;
        need(digits.bytes().all(|digit| digit.is_ascii_hexdigit()), NO_JSON.0)?;
        self.next += 4;
        u16::from_str_radix(digits, 16).map_err(|_| NO_JSON)
    }

    /// Goes past digits, of which there must be one.
    fn digits(&mut self) -> Result<&str, Refused> {
        let start = self.next;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.next += 1;
        }
        (self.next > start).then(|| &self.text[start..self.next]).ok_or(NO_JSON)
    }

    fn number(&mut self) -> Result<Json, Refused> {
        let start = self.next;
        self.take(b'-');
        let first = self.digits()?;
        need(first == "0" || !first.starts_with('0'), NO_JSON.0)?;
        let whole = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'-') {
                self.take(b'+');
            }
            self.digits()?;
        }
        let written = &self.text[start..self.next];
        let double = written.parse::<f64>().map_err(|_| NO_JSON)? + 0.0; // not -0
        need(double.is_finite(), "numbers must fit in a double, got a larger one")?;
        Ok(Json::Number(double, written.parse().ok().filter(|_| whole)))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn what_is_no_strict_json_is_refused() {
        for text in
            ["", "01", "1.", "-", "[1,]", "{\"a\":1,\"a\":1}", "\"\\ud800\"", "NaN", "1e999", "[1] 2", "\"\\u12"]
        {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(400_000)).is_err());
    }

    #[test]
    fn whole_numbers_are_those_without_point_and_exponent() {
        assert_eq!(Json::parse("9007199254740993"), Ok(Json::Number(9007199254740992.0, Some(9007199254740993))));
        assert_eq!(Json::parse(" 1.0 "), Ok(Json::Number(1.0, None)));
        assert_eq!(Json::parse("\"\\ud83d\\ude00\\u00e9\""), Ok(Json::Text("😀é".into())));
    }
}
