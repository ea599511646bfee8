//! Drawing: from a value and random words of 64 bits to an output and its report.
//!
//! docs/table-format.md, "Drawing a report", has the steps of numbers. Nothing here reads files or holds a value in a
//! message; drawing a number allocates nothing. It needs `alloc` and no operating system.
#![no_std]

extern crate alloc;

mod categories;
mod combined;
mod field;
mod taken;

pub use categories::{Categories, Oracle, Report};
#[doc(hidden)]
pub use combined::sets;
pub use combined::{Attributes, Levels, Mechanism, Pairs, Value};
pub use field::Field;

use crate::taken::Taken;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// The denominator of all probabilities.
pub const DENOMINATOR: u64 = 1 << 53;

/// Binary digits of a geometric number: those of probability 2^-54 and more are fewer.
pub const MOST_DIGITS: usize = 64;

/// A secure generator. Implement it for the platform's own alone; `optldp_client::Platform` is that of Unix.
pub trait Words {
    /// Fills all words, or fails. A generator that gives too little has failed.
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness>;
}

/// The secure generator failed or gave too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

/// Why nothing was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The value is no number from the first knot to the last. Which it is is not said.
    NotInDomain,
    /// The value is none of the categories. Which it is is not said.
    NoCategory,
    /// The value is not of the sort that the mechanism takes, or has too few or too many parts.
    NoValue,
    /// The secure generator failed or gave too little.
    NoRandomness,
}

impl fmt::Display for Stopped {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Stopped::NotInDomain => "the value must be a number of the table's domain, got another",
            Stopped::NoCategory => "the value must be one of the categories, got another",
            Stopped::NoValue => "the value must be of the sort that the mechanism takes, got another",
            Stopped::NoRandomness => "the secure generator must give all words that a draw needs, got too few",
        })
    }
}

impl core::error::Error for Stopped {}

/// Where the probabilities of outputs stand.
#[derive(Debug)]
pub enum Rows {
    /// Of a table, row by row: numerators up to and with each output.
    Sums(Box<[u64]>),
    /// Of a floor form: sums of floors and of extras up to and with each output; where each row's window begins.
    Windows { floors: Box<[u64]>, edges: Box<[u64]>, starts: Box<[u64]>, width: u64 },
}

/// What a report is within an output that is no point.
#[derive(Debug)]
pub enum Law {
    /// Anywhere in a cell, but on no point inside it: the points, rising, and where a report goes instead.
    Uniform { hidden: Box<[f64]>, refuges: Box<[f64]> },
    /// A number of steps beyond the end of a tail; how often, in 2^53, each of its binary digits is one.
    Tails { step: f64, odds: Box<[u64]> },
}

/// The parts of a table. Whoever fills them in has proved them, as `optldp_client::read_table` does.
#[derive(Debug)]
pub struct Parts {
    pub epsilon: f64,
    pub units: String,
    pub identifier: String,
    pub knots: Box<[f64]>,
    pub low: Box<[f64]>,
    pub high: Box<[f64]>,
    pub top: Box<[f64]>,
    pub rows: Rows,
    pub law: Law,
}

/// A table that is proved private. It is read only: threads may share one.
#[derive(Debug)]
pub struct Table(Parts);

impl Table {
    /// A table of parts that are proved already: nothing is checked here. To load a file call `read_table`.
    #[doc(hidden)]
    pub fn from_proved(parts: Parts) -> Table {
        Table(parts)
    }

    /// The budget that each report of a value spends; proved.
    pub fn epsilon(&self) -> f64 {
        self.0.epsilon
    }

    /// The units of values and reports.
    pub fn units(&self) -> &str {
        &self.0.units
    }

    /// The table's name in files of reports.
    pub fn identifier(&self) -> &str {
        &self.0.identifier
    }

    /// The first and the last value that may be reported.
    pub fn domain(&self) -> (f64, f64) {
        (self.0.knots[0], self.0.knots[self.0.knots.len() - 1])
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.0.low.len()
    }

    /// Draws the number of an output, from 0. Each draw of a value spends epsilon again.
    pub fn index(&self, value: f64, generator: &mut impl Words) -> Result<usize, Stopped> {
        let mut words = [0; 2];
        self.drawn(value, &mut words, generator, |output, _| output)
    }

    /// Draws a report, in the units of the table. Each draw of a value spends epsilon again.
    pub fn report(&self, value: f64, generator: &mut impl Words) -> Result<f64, Stopped> {
        let mut words = [0; 2 + MOST_DIGITS];
        let used = match &self.0.law {
            Law::Uniform { .. } => 3,
            Law::Tails { odds, .. } => 2 + odds.len().max(1),
        };
        self.drawn(value, &mut words[..used], generator, |output, more| self.report_of(output, more))
    }

    fn drawn<T>(
        &self,
        value: f64,
        words: &mut [u64],
        generator: &mut impl Words,
        made: impl Fn(usize, &[u64]) -> T,
    ) -> Result<T, Stopped> {
        self.need_inside(value)?;
        let filled = generator.fill(words);
        let drawn = match filled {
            Ok(()) => Ok(made(self.output_of(value, words[0], words[1]), &words[2..])),
            Err(NoRandomness) => Err(Stopped::NoRandomness),
        };
        clear(words);
        drawn
    }

    /// What the table consists of.
    #[doc(hidden)]
    pub fn parts(&self) -> &Parts {
        &self.0
    }

    pub(crate) fn need_inside(&self, value: f64) -> Result<(), Stopped> {
        let (first, last) = self.domain();
        (first <= value && value <= last).then_some(()).ok_or(Stopped::NotInDomain)
    }

    /// Draws an output by the next words; the value is in the domain.
    pub(crate) fn index_by<G: Words>(&self, value: f64, words: &mut Taken<'_, G>) -> Result<usize, Stopped> {
        Ok(self.output_of(value, words.next()?, words.next()?))
    }

    /// Draws a report by as many of the next words as it needs; the value is in the domain.
    pub(crate) fn report_by<G: Words>(&self, value: f64, words: &mut Taken<'_, G>) -> Result<f64, Stopped> {
        let j = self.index_by(value, words)?;
        let (low, high) = (&self.0.low, &self.0.high);
        let more = match &self.0.law {
            Law::Uniform { .. } => usize::from((0..low.len()).any(|each| low[each] < high[each])),
            Law::Tails { odds, .. } if low[j] < high[j] => odds.len(),
            Law::Tails { .. } => 0,
        };
        let mut taken = [0; MOST_DIGITS];
        let filled = taken[..more].iter_mut().try_for_each(|word| words.next().map(|next| *word = next));
        let report = filled.map(|()| self.report_of(j, &taken));
        clear(&mut taken);
        report
    }

    fn output_of(&self, value: f64, knot: u64, output: u64) -> usize {
        let knots = &self.0.knots;
        let k = knots.partition_point(|each| *each <= value).min(knots.len() - 1) - 1;
        let weight = to_nearest((value - knots[k]) / (knots[k + 1] - knots[k]) * DENOMINATOR as f64);
        let (row, word, many) = (k + usize::from(knot >> 11 < weight), output >> 11, self.outputs());
        match &self.0.rows {
            Rows::Sums(sums) => sums[row * many..(row + 1) * many].partition_point(|sum| *sum <= word),
            Rows::Windows { floors, edges, starts, width } => {
                let (mut first, mut left) = (0, many);
                while left > 1 {
                    let (half, start) = (left / 2, starts[row]);
                    let until = first + half - 1;
                    if floors[until] + edges[until].saturating_sub(start).min(*width) <= word {
                        first += half;
                    }
                    left -= half;
                }
                first
            }
        }
    }

    fn report_of(&self, j: usize, words: &[u64]) -> f64 {
        let (low, high) = (self.0.low[j], self.0.high[j]);
        if low == high {
            return low;
        }
        match &self.0.law {
            Law::Uniform { hidden, refuges } => {
                let place = (2 * (words[0] >> 12) + 1) as f64 / DENOMINATOR as f64;
                let inside = low + (high - low) * place;
                let report = if inside < self.0.top[j] { inside } else { self.0.top[j] };
                match hidden.binary_search_by(|point| point.total_cmp(&report)) {
                    Ok(found) => refuges[found],
                    Err(_) => report,
                }
            }
            Law::Tails { step, odds } => {
                let mut steps = 0.0; // summed from the lowest digit on, in doubles, as every client does
                for (i, (word, odd)) in words.iter().zip(odds).enumerate() {
                    if word >> 11 < *odd {
                        steps += f64::from_bits((1023 + i as u64) << 52); // 2^i
                    }
                }
                let beyond = steps * step;
                if low == f64::NEG_INFINITY {
                    high - beyond
                } else {
                    low + beyond
                }
            }
        }
    }
}

/// The whole number nearest to one from 0 to 2^53, halves to the even one: core has no rounding.
fn to_nearest(number: f64) -> u64 {
    let whole = number as u64;
    let rest = number - whole as f64;
    whole + u64::from(rest > 0.5 || (rest == 0.5 && whole % 2 == 1))
}

/// Clears what could undo the noise of a report; volatile, so that no compiler leaves it out.
fn clear(words: &mut [u64]) {
    for word in words {
        // SAFETY: the pointer is that of a reference.
        unsafe { core::ptr::write_volatile(word, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::{clear, to_nearest, DENOMINATOR};

    #[test]
    fn halves_go_to_the_even_number() {
        let rounded = [0.0, 0.5, 0.6, 1.5, 2.5, DENOMINATOR as f64].map(to_nearest);
        assert_eq!(rounded, [0, 0, 1, 2, 2, DENOMINATOR]);
    }

    #[test]
    fn words_are_cleared() {
        let mut words = [7, 9];
        clear(&mut words);
        assert_eq!(words, [0, 0]);
    }
}
