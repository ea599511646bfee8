//! Drawing of what has several parts: docs/bundle-format.md has the order in which they take their words.

use crate::taken::{choices, Taken};
use crate::{Categories, Oracle, Report, Stopped, Table, Words};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

const EXPECTED: usize = 8; // words asked for at first; more follow as they are needed

/// What a mechanism takes.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// Of a table.
    Number(f64),
    /// Of categories.
    Name(&'a str),
    /// Keys, each once, and their numbers.
    Pairs(&'a [(&'a str, f64)]),
    /// One number for each attribute.
    Numbers(&'a [f64]),
    /// A value, and the number of the level by which it is reported: 0 is the most private.
    AtLevel(&'a Value<'a>, usize),
}

/// Any mechanism that is proved private.
#[derive(Debug)]
pub enum Mechanism {
    Numbers(Table),
    Names(Categories),
    Pairs(Pairs),
    Attributes(Attributes),
    Levels(Levels),
}

/// Sets of pairs of a key and a number. Whoever fills in the parts has proved them; so of those below.
#[derive(Debug)]
pub struct Pairs {
    pub epsilon: f64,
    pub keys: Box<[String]>,
    pub value: Table,
    pub padding: usize,
    /// Whether each key is shown or not by itself; else one place of all is shown.
    pub apart: bool,
    /// How often, in 2^53, the own key's place is shown, and each other one.
    pub own: u64,
    pub other: u64,
    /// Numerators up to and with each output at places that are not the user's.
    pub fakes: Box<[u64]>,
}

/// Several numbers, of which so many are reported.
#[derive(Debug)]
pub struct Attributes {
    pub epsilon: f64,
    pub names: Box<[String]>,
    pub tables: Box<[Table]>,
    pub sampled: usize,
}

/// Mechanisms for the same values, by rising budgets, and how the level is reported: none, in the clear.
#[derive(Debug)]
pub struct Levels {
    pub levels: Box<[Mechanism]>,
    pub protocol: Option<Categories>,
}

impl Mechanism {
    /// The budget that each report of a value spends; proved. Of levels, the largest.
    pub fn epsilon(&self) -> f64 {
        match self {
            Mechanism::Numbers(table) => table.epsilon(),
            Mechanism::Names(names) => names.epsilon(),
            Mechanism::Pairs(pairs) => pairs.epsilon,
            Mechanism::Attributes(attributes) => attributes.epsilon,
            Mechanism::Levels(levels) => levels.levels.last().map_or(0.0, Mechanism::epsilon),
        }
    }

    /// Draws a report, cell by cell as docs/report-format.md has them; a level's cell has its number. Each draw of a value
    /// spends epsilon again. No word is asked for before the whole value is known to be right.
    pub fn report(&self, value: &Value<'_>, generator: &mut impl Words) -> Result<Vec<String>, Stopped> {
        self.need_value(value)?;
        self.drawn(value, &mut Taken::of(generator, EXPECTED))
    }

    fn need_value(&self, value: &Value<'_>) -> Result<(), Stopped> {
        match (self, value) {
            (Mechanism::Numbers(table), Value::Number(number)) => table.need_inside(*number),
            (Mechanism::Names(names), Value::Name(name)) => names.code(name).map(|_| ()),
            (Mechanism::Pairs(mechanism), Value::Pairs(pairs)) => mechanism.need_pairs(pairs),
            (Mechanism::Attributes(attributes), Value::Numbers(numbers)) => {
                let many = numbers.len() == attributes.tables.len();
                many.then_some(()).ok_or(Stopped::NoValue)?;
                let mut each = attributes.tables.iter().zip(*numbers);
                each.try_for_each(|(table, number)| table.need_inside(*number))
            }
            (Mechanism::Levels(levels), Value::AtLevel(inner, level)) => {
                levels.levels.get(*level).ok_or(Stopped::NoValue)?.need_value(inner)
            }
            _ => Err(Stopped::NoValue),
        }
    }

    fn drawn<G: Words>(&self, value: &Value<'_>, words: &mut Taken<'_, G>) -> Result<Vec<String>, Stopped> {
        match (self, value) {
            (Mechanism::Numbers(table), Value::Number(number)) => Ok(vec![text(table.report_by(*number, words)?)]),
            (Mechanism::Names(names), Value::Name(name)) => {
                Ok(vec![names.drawn(names.code(name)?, words)?.to_string()])
            }
            (Mechanism::Pairs(mechanism), Value::Pairs(pairs)) => Ok(vec![mechanism.drawn(pairs, words)?]),
            (Mechanism::Attributes(attributes), Value::Numbers(numbers)) => attributes.drawn(numbers, words),
            (Mechanism::Levels(levels), Value::AtLevel(inner, level)) => {
                let mut cells = levels.levels[*level].drawn(inner, words)?; // the value's report takes its words first
                let told = match &levels.protocol {
                    Some(protocol) => number_of(protocol, &protocol.drawn(*level, words)?),
                    None => *level as u64,
                };
                cells.insert(0, told.to_string());
                Ok(cells)
            }
            _ => Err(Stopped::NoValue),
        }
    }
}

impl Attributes {
    fn drawn<G: Words>(&self, numbers: &[f64], words: &mut Taken<'_, G>) -> Result<Vec<String>, Stopped> {
        let chosen = choices(numbers.len(), self.sampled, words)?;
        let mut cells = vec![String::new(); numbers.len()];
        for (i, cell) in cells.iter_mut().enumerate() {
            if chosen.contains(&i) {
                *cell = text(self.tables[i].report_by(numbers[i], words)?);
            }
        }
        Ok(cells)
    }
}

impl Pairs {
    fn place(&self, key: &str) -> Result<usize, Stopped> {
        self.keys.iter().position(|own| own == key).ok_or(Stopped::NoCategory)
    }

    fn need_pairs(&self, pairs: &[(&str, f64)]) -> Result<(), Stopped> {
        (self.padding > 0 || !pairs.is_empty()).then_some(()).ok_or(Stopped::NoValue)?;
        for (i, (key, number)) in pairs.iter().enumerate() {
            self.place(key)?;
            self.value.need_inside(*number)?;
            let again = pairs[..i].iter().any(|(before, _)| before == key);
            (!again).then_some(()).ok_or(Stopped::NoValue)?;
        }
        Ok(())
    }

    fn fake<G: Words>(&self, words: &mut Taken<'_, G>) -> Result<usize, Stopped> {
        let word = words.next()? >> 11;
        Ok(self.fakes.partition_point(|sum| *sum <= word))
    }

    fn drawn<G: Words>(&self, pairs: &[(&str, f64)], words: &mut Taken<'_, G>) -> Result<String, Stopped> {
        let many = self.keys.len();
        let number = (words.next()? >> 11) as usize % pairs.len().max(self.padding).max(1);
        let (place, value) = match pairs.get(number) {
            Some((key, value)) => (self.place(key)?, *value),
            None => (many + number, self.value.domain().0), // a dummy
        };
        let output = self.value.index_by(value, words)?;
        if self.apart {
            let mut shown = Vec::new();
            for key in 0..many {
                let share = if key == place { self.own } else { self.other };
                let (shows, fake) = (words.next()? >> 11 < share, self.fake(words)?);
                if shows {
                    shown.push(format!("{key}:{}", if key == place { output } else { fake }));
                }
            }
            return Ok(if shown.is_empty() { "-".into() } else { shown.join(";") });
        }
        let word = words.next()? >> 11;
        let fake = self.fake(words)?;
        let step = if word < self.own { 0 } else { 1 + ((word - self.own) / self.other) as usize };
        let truly = step == 0 && place < many;
        Ok(format!("{}:{}", (place + step) % (many + self.padding), if truly { output } else { fake }))
    }
}

/// A report's place among all of them: of bits as binary digits, of sets in the order of the words that their members make.
fn number_of(protocol: &Categories, report: &Report) -> u64 {
    let (size, bytes) = match report {
        Report::Number(number) => return *number,
        Report::Bits(bytes) => (protocol.labels().len(), bytes),
    };
    let ones = (0..size).map(|place| u64::from(bytes[place / 8] >> (7 - place % 8) & 1));
    let Oracle::Subset { chosen, .. } = protocol.oracle() else {
        return ones.fold(0, |sum, one| 2 * sum + one);
    };
    let (mut number, mut left) = (0, *chosen);
    for (place, one) in ones.enumerate() {
        if one == 1 {
            left -= 1;
        } else if left > 0 {
            number += sets(size - place - 1, left - 1); // those that hold this place instead come before
        }
    }
    number
}

/// How many sets of so many there are; of more than 2^32, some number above that.
#[doc(hidden)]
pub fn sets(size: usize, chosen: usize) -> u64 {
    let mut sets = 1;
    for i in 1..=chosen.min(size.saturating_sub(chosen)) {
        sets = sets * (size - i + 1) as u64 / i as u64;
        if sets > 1 << 32 {
            break;
        }
    }
    if chosen > size {
        0
    } else {
        sets
    }
}

/// A number as files hold it: the shortest decimal number that is the very double, exponents of two digits.
fn text(number: f64) -> String {
    let written = format!("{:?}", number + 0.0); // not -0
    match written.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(below) => format!("{digits}e-{below:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => written,
    }
}

#[cfg(test)]
mod tests {
    use super::{sets, text};

    #[test]
    fn numbers_are_written_as_files_hold_them() {
        let written = [4.0, -0.0, 1e-7, 1.5e-300, 1e16, 0.0001].map(text);
        assert_eq!(written, ["4.0", "0.0", "1e-07", "1.5e-300", "1e+16", "0.0001"]);
    }

    #[test]
    fn sets_are_counted() {
        assert_eq!([sets(5, 2), sets(5, 5), sets(2, 3), sets(12, 6)], [10, 1, 0, 924]);
        assert!(sets(256, 128) > 1 << 32);
    }
}
