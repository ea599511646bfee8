//! Drawing of categories: docs/bundle-format.md has the steps, and takes the words in the same order.

use crate::field::Field;
use crate::taken::{choices, Taken};
use crate::{Stopped, Words};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// How a category becomes a report; shares are over 2^53.
#[derive(Debug)]
pub enum Oracle {
    /// Numerators up to and with each of so many outputs, row by row.
    Table { sums: Box<[u64]>, outputs: usize },
    /// A bit for each category, one as often as this at the own place, and elsewhere.
    Unary { own: u64, other: u64 },
    /// A set of so many categories, which holds the own one so often.
    Subset { chosen: usize, own: u64 },
    /// A seed, and so often the own category's hash under it, of so many digits; else another value.
    Hash { field: Field, digits: u32, own: u64, other: u64 },
    /// A point of so many entries, so often one that supports the category.
    Geometry { field: Field, length: u32, own: u64 },
}

/// A report of a category. `to_string` writes it as files of reports hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The number of an output; of local hashing seed times values plus value; of a point.
    Number(u64),
    /// A bit for each category, the first one the highest of the first byte.
    Bits(Box<[u8]>),
}

impl fmt::Display for Report {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::Number(number) => write!(to, "{number}"),
            Report::Bits(bytes) => bytes.iter().try_for_each(|byte| write!(to, "{byte:02x}")),
        }
    }
}

/// A mechanism for categories that is proved private. It is read only: threads may share one.
#[derive(Debug)]
pub struct Categories {
    epsilon: f64,
    identifier: String,
    labels: Box<[String]>,
    sorted: Box<[usize]>, // the numbers of categories in the order of their names
    oracle: Oracle,
}

impl Categories {
    /// A mechanism of parts that are proved already: nothing is checked here. To load a file call `read_categories`.
    #[doc(hidden)]
    pub fn from_proved(epsilon: f64, identifier: String, labels: Box<[String]>, oracle: Oracle) -> Categories {
        let mut sorted: Vec<usize> = (0..labels.len()).collect();
        sorted.sort_unstable_by(|a, b| labels[*a].cmp(&labels[*b]));
        Categories { epsilon, identifier, labels, sorted: sorted.into(), oracle }
    }

    /// The budget that each report of a value spends; proved.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The mechanism's name in files of reports.
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// The categories, in their order.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Draws a report of one of the categories. Each draw of a value spends epsilon again.
    pub fn report(&self, value: &str, generator: &mut impl Words) -> Result<Report, Stopped> {
        let code = self.code(value)?;
        let expected = match &self.oracle {
            Oracle::Table { .. } => 1,
            Oracle::Unary { .. } => self.labels.len(),
            Oracle::Subset { chosen, .. } => 1 + chosen,
            Oracle::Hash { .. } => 2,
            Oracle::Geometry { .. } => 3,
        };
        self.drawn(code, &mut Taken::of(generator, expected))
    }

    /// The number of a category, from 0.
    pub fn code(&self, value: &str) -> Result<usize, Stopped> {
        let found = self.sorted.binary_search_by(|code| self.labels[*code].as_str().cmp(value));
        Ok(self.sorted[found.map_err(|_| Stopped::NoCategory)?])
    }

    /// How reports are made.
    #[doc(hidden)]
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    pub(crate) fn drawn<G: Words>(&self, code: usize, words: &mut Taken<'_, G>) -> Result<Report, Stopped> {
        let size = self.labels.len();
        match &self.oracle {
            Oracle::Table { sums, outputs } => {
                let word = words.next()? >> 11;
                let row = &sums[code * outputs..(code + 1) * outputs];
                Ok(Report::Number(row.partition_point(|sum| *sum <= word) as u64))
            }
            Oracle::Unary { own, other } => {
                let mut bits = vec![0; size.div_ceil(8)];
                for place in 0..size {
                    let share = if place == code { own } else { other };
                    bits[place / 8] |= u8::from(words.next()? >> 11 < *share) << (7 - place % 8);
                }
                Ok(Report::Bits(bits.into()))
            }
            Oracle::Subset { chosen, own } => {
                let held = words.next()? >> 11 < *own;
                let mut others = choices(size - 1, *chosen, words)?; // counted on from the one after the own
                if held {
                    others[chosen - 1] = size - 1;
                }
                let mut bits = vec![0; size.div_ceil(8)];
                for other in others {
                    let place = (code + 1 + other) % size;
                    bits[place / 8] |= 1 << (7 - place % 8);
                }
                Ok(Report::Bits(bits.into()))
            }
            Oracle::Hash { field, digits, own, other } => {
                let g = field.size();
                let seed = words.next()? % ((g.pow(*digits) - 1) / (g - 1));
                let word = words.next()? >> 11;
                let step = if word < *own { 0 } else { 1 + (word - own) / other };
                Ok(Report::Number(seed * g + (field.hashed(seed, code as u64, *digits) + step) % g))
            }
            Oracle::Geometry { field, length, own } => {
                let (n, m) = (field.points(*length), field.points(length - 1));
                let supported = words.next()? >> 11 < *own;
                let (on, off) = (words.below(m)?, words.below(n - m)?);
                let number = if supported { on } else { off };
                Ok(Report::Number(point(field, *length, code as u64, supported, number)))
            }
        }
    }
}

/// A point that supports a category or not: its other entries are those of a point's number, or the number's digits.
fn point(field: &Field, length: u32, code: u64, supported: bool, number: u64) -> u64 {
    let (own, q) = (field.point(code, length), field.size());
    let first = own.iter().position(|entry| *entry == 1).unwrap_or(0);
    let mut vector = match supported {
        true => field.point(number, length - 1),
        false => (0..length - 1).rev().map(|place| number / q.pow(place) % q).collect(),
    };
    vector.insert(first, 0);
    vector[first] = field.lacking(&own, &vector, u64::from(!supported));
    field.number(&vector)
}
