//! Reports of which one budget holds for a whole history: one sum of it, or signs of its changes.

use crate::kept::Kept;
use crate::over_time::{drawn_word, hashed, picked, Unsent, TAG};
use optldp_drawing::{Mechanism, Stopped, Value, Words};

const DRAWN: f64 = (1u64 << 53) as f64; // offsets are whole numbers below it

#[derive(Debug)]
pub struct Life {
    /// Of users who have each row, or who report in each period and are of each branch.
    pub shares: Vec<u64>,
    pub salt: [u8; 16],
    pub law: Law,
}

#[derive(Debug)]
pub enum Law {
    /// A sum of the history by public weights, when the last period with a weight ends.
    Rows(Vec<Vec<f64>>),
    /// The value of one period, or a sign at the end of each block of periods: docs/bundle-format.md has the law.
    Tree(Vec<Branch>),
}

/// Users who send a sign whenever so many periods end, by signs that are drawn together.
#[derive(Debug)]
pub struct Branch {
    pub step: u64,
    /// Of 0, 1, ... plus signs, all orders together.
    pub weights: Vec<u64>,
}

/// What a user's place picks.
enum Part<'a> {
    Row(&'a [f64]),
    Period(u64),
    Branch(&'a Branch),
}

impl Life {
    fn part(&self, name: &str) -> Part<'_> {
        let word = hashed(&[TAG, &self.salt, name.as_bytes(), &0u64.to_le_bytes()]);
        let place = picked(&self.shares, word) as usize;
        match &self.law {
            Law::Rows(rows) => Part::Row(&rows[place]),
            Law::Tree(branches) => match place.checked_sub(self.shares.len() - branches.len()) {
                Some(branch) => Part::Branch(&branches[branch]),
                None => Part::Period(place as u64 + 1),
            },
        }
    }

    pub fn is_turn(&self, name: &str, period: u64) -> bool {
        match self.part(name) {
            Part::Row(row) => period == end(row),
            Part::Period(own) => period == own,
            Part::Branch(branch) => period > 1 && period % branch.step == 0,
        }
    }

    /// Keeps what a later report needs of a period, in turn or not: of a row the first value of each period until its
    /// report is drawn, of a branch its signs, unless another copy of the state may have drawn them.
    pub fn note(
        &self,
        mechanism: &Mechanism,
        kept: &mut Kept,
        (name, period): (&str, u64),
        value: &Value<'_>,
        generator: &mut impl Words,
    ) -> Result<(), Unsent> {
        match self.part(name) {
            Part::Row(row) if period <= end(row) && kept.reports.is_empty() => {
                let number = inside(mechanism, value)?;
                kept.draws.entry(period).or_insert_with(|| format!("{number:?}"));
            }
            Part::Branch(branch) if kept.signs.is_none() && kept.lost == 0 => {
                inside(mechanism, value)?;
                let offset = drawn_word(generator)? >> 11;
                let signs = branch.signs(generator)?;
                let now = sign(mechanism, value, offset)?;
                (kept.offset, kept.signs) = (Some(offset), Some(format!("{now}{signs}")));
            }
            _ => {}
        }
        Ok(())
    }

    /// A report that is drawn now; none where another copy may have sent it.
    pub fn drawn(
        &self,
        mechanism: &Mechanism,
        kept: &mut Kept,
        name: &str,
        value: &Value<'_>,
        generator: &mut impl Words,
    ) -> Result<Option<String>, Unsent> {
        match self.part(name) {
            Part::Row(row) => {
                let report = mechanism.report(&Value::Number(summed(mechanism, kept, row)?), generator)?.pop();
                kept.draws.clear();
                Ok(report)
            }
            Part::Period(_) => Ok(mechanism.report(value, generator)?.pop()),
            Part::Branch(_) => {
                let (Some(signs), Some(offset), 0) = (&kept.signs, kept.offset, kept.lost) else {
                    return Ok(None);
                };
                let now = sign(mechanism, value, offset)?;
                let fair = drawn_word(generator)? >> 63 == 1; // drawn by all
                let (last, left) = signs.split_at_checked(1).ok_or(Unsent::State)?;
                let (sent, left) = match left.chars().next() {
                    Some(next) if !last.starts_with(now) => (next == now, &left[1..]), // plus if the change was upwards, times the next
                    _ => (fair, left),
                };
                kept.signs = Some(format!("{now}{left}"));
                Ok(Some(if sent { "+" } else { "-" }.into()))
            }
        }
    }
}

impl Branch {
    fn signs(&self, generator: &mut impl Words) -> Result<String, Unsent> {
        let mut left = below(self.weights.iter().sum(), generator)?;
        let more = |weight: &&u64| match left.checked_sub(**weight) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let plus = self.weights.iter().take_while(more).count();
        let mut order: Vec<usize> = (0..self.weights.len() - 1).collect();
        for i in 0..order.len() {
            let other = i + below((order.len() - i) as u64, generator)? as usize;
            order.swap(i, other);
        }
        Ok(order.into_iter().map(|one| if one < plus { '+' } else { '-' }).collect())
    }
}

/// A whole number below a bound; words that would favour some are drawn again.
fn below(bound: u64, generator: &mut impl Words) -> Result<u64, Unsent> {
    let rest = (u64::MAX % bound + 1) % bound; // of 2^64
    loop {
        let word = drawn_word(generator)?;
        if rest == 0 || word < 0u64.wrapping_sub(rest) {
            return Ok(word % bound);
        }
    }
}

fn end(row: &[f64]) -> u64 {
    row.iter().rposition(|weight| *weight != 0.0).map_or(0, |last| last as u64 + 1)
}

fn domain(mechanism: &Mechanism) -> Result<(f64, f64), Unsent> {
    match mechanism {
        Mechanism::Numbers(table) => Ok(table.domain()),
        _ => Err(Stopped::NoValue.into()),
    }
}

fn inside(mechanism: &Mechanism, value: &Value<'_>) -> Result<f64, Unsent> {
    let (low, high) = domain(mechanism)?;
    match value {
        Value::Number(number) if low <= *number && *number <= high => Ok(*number),
        Value::Number(_) => Err(Stopped::NotInDomain.into()),
        _ => Err(Stopped::NoValue.into()),
    }
}

/// Moved from the domain to [-1, 1].
fn scaled(value: f64, (low, high): (f64, f64)) -> f64 {
    (value - 0.5 * (low + high)) / (0.5 * (high - low))
}

fn sign(mechanism: &Mechanism, value: &Value<'_>, offset: u64) -> Result<char, Unsent> {
    let over = scaled(inside(mechanism, value)?, domain(mechanism)?) > 2.0 * (offset as f64 / DRAWN) - 1.0;
    Ok(if over { '+' } else { '-' })
}

/// The sum of what is kept; a missing value is the one before it, or else the first.
fn summed(mechanism: &Mechanism, kept: &Kept, row: &[f64]) -> Result<f64, Unsent> {
    let ends = domain(mechanism)?;
    let number = |text: &String| text.parse::<f64>().map_err(|_| Unsent::State);
    let mut held = number(kept.draws.values().next().ok_or(Unsent::State)?)?;
    let mut total = 0.0;
    for (period, weight) in (1..).zip(row) {
        if let Some(text) = kept.draws.get(&period) {
            held = number(text)?;
        }
        total += weight * scaled(held, ends);
    }
    let told = 0.5 * (ends.0 + ends.1) + 0.5 * (ends.1 - ends.0) * total.clamp(-1.0, 1.0);
    Ok(told.clamp(ends.0, ends.1))
}
