//! Reports of a user over time, with a state that draws nothing twice: by a panel, by draws that are remembered, or of a whole life.
//!
//! docs/bundle-format.md has the ways, docs/asking-again.md what a state and its mark are for. No message holds a value.

use crate::kept::Kept;
use crate::normal_form::normal;
use crate::sha256::sha256;
use crate::whole_life::Life;
use optldp_drawing::{Mechanism, NoRandomness, Stopped, Value, Words, DENOMINATOR};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

pub(crate) const TAG: &[u8] = b"optldp-turn/1";
const LONGEST_NAME: usize = 1024; // characters

/// Where a device keeps a text.
pub trait Place {
    /// The text; none where nothing was written yet.
    fn read(&mut self) -> io::Result<Option<String>>;
    /// Puts a text in its place, whole or not at all, and on disk when this returns.
    fn write(&mut self, text: &str) -> io::Result<()>;
}

/// A file of its owner alone.
#[derive(Clone, Debug)]
pub struct FilePlace(pub PathBuf);

impl Place for FilePlace {
    fn read(&mut self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.0) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut beside = self.0.clone().into_os_string();
        beside.push(".new");
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {} // one that a crash left, or that is another's, gives way
        }
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
        let mut file = how.open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.0)?;
        #[cfg(unix)]
        fs::File::open(self.0.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(".".as_ref()))?
            .sync_all()?; // so that a new name outlives a crash, too
        Ok(())
    }
}

/// Why no report of a period may be sent.
#[derive(Debug)]
pub enum Unsent {
    /// The user is no text of 1 to 1024 characters.
    User,
    /// The period is none from 1 on to the last.
    Period,
    /// The state or its mark is not as it was left, or of another way or user.
    State,
    /// The value is none that the mechanism takes, or the generator failed.
    Stopped(Stopped),
    /// The state or its mark cannot be read or written.
    Place(io::Error),
}

impl fmt::Display for Unsent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsent::User => to.write_str("the user must be text of 1 to 1024 characters, got something else"),
            Unsent::Period => to.write_str("the period must be a whole number from 1 to the last, got another"),
            Unsent::State => to.write_str("the state and its mark must be this user's, as they were left, got others"),
            Unsent::Stopped(stopped) => stopped.fmt(to),
            Unsent::Place(error) => write!(to, "the state must be read and written, got {error}"),
        }
    }
}

impl std::error::Error for Unsent {}

impl From<Stopped> for Unsent {
    fn from(stopped: Stopped) -> Unsent {
        Unsent::Stopped(stopped)
    }
}

impl From<io::Error> for Unsent {
    fn from(error: io::Error) -> Unsent {
        Unsent::Place(error)
    }
}

/// Reports of a user over time, proved private.
#[derive(Debug)]
pub struct Way {
    pub(crate) mechanism: Mechanism,
    pub(crate) periods: u64,
    pub(crate) epsilon: f64,
    pub(crate) identifier: String,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub enum Kind {
    /// A user reports in some of the periods; without a salt each device draws its turns.
    Panel { reports: u64, span: u64, salt: Option<[u8; 16]>, shares: Option<Vec<u64>> },
    /// A user draws a report of each different value once, for so many of them at most.
    Memoised { values: u64 },
    /// Of a whole history, by one budget.
    Life(Life),
}

impl Way {
    /// The last period.
    pub fn periods(&self) -> u64 {
        self.periods
    }

    /// Of a panel: the budget of a user's reports in all periods, or in any span of them. Of values that are remembered:
    /// of all draws, of two histories that change and come back at the same times, and of nothing else.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The way's name in files of reports.
    pub fn identifier(&self) -> &str {
        &self.identifier
    }

    /// The report of a period as a file holds it; none where nothing is to be sent.
    ///
    /// The report is in the state before it is returned. The same period has the same report again, whatever the value
    /// is, and after a later period was asked for an earlier one has no new one. A state that is missing or behind its
    /// mark counts as spent until there: keep the mark where it is not restored or lost together with the state. One
    /// process at a time may ask.
    ///
    /// # Errors
    ///
    /// A user, a period or a value that is none, a state that is not as it was left or cannot be written, a generator
    /// that fails: nothing may be sent.
    pub fn report(
        &self,
        user: &str,
        period: u64,
        value: &Value<'_>,
        state: &mut impl Place,
        mark: &mut impl Place,
        generator: &mut impl Words,
    ) -> Result<Option<String>, Unsent> {
        let named = (1..=LONGEST_NAME).contains(&user.chars().take(LONGEST_NAME + 1).count());
        let name = named.then(|| normal(user)).ok_or(Unsent::User)?;
        (1..=self.periods).contains(&period).then_some(()).ok_or(Unsent::Period)?;
        let owner = sha256(&framed(&[self.identifier.as_bytes(), name.as_bytes()]));
        let before = mark.read()?;
        let mut kept = Kept::of(state.read()?.as_deref(), before.as_deref(), &owner)?;
        if before.is_none() {
            if kept.number > 0 {
                kept.lost = kept.lost.max(period); // the mark was lost: another copy may have sent this period's report
            }
            mark.write(&kept.mark())?;
        }
        let lacking = self.is_turn(&mut kept, &name, period, generator)? && !kept.reports.contains_key(&period);
        if let Kind::Life(life) = &self.kind {
            life.note(&self.mechanism, &mut kept, (&name, period), value, generator)?;
        }
        if lacking && period >= kept.latest && period > kept.lost {
            if let Some(report) = self.drawn(&mut kept, &name, value, generator)? {
                kept.reports.insert(period, report);
            }
        }
        kept.latest = kept.latest.max(period);
        kept.number += 1;
        state.write(&kept.text(&owner))?; // before the mark, and the mark before the report leaves
        mark.write(&kept.mark())?;
        Ok(kept.reports.remove(&period))
    }

    fn is_turn(&self, kept: &mut Kept, name: &str, period: u64, generator: &mut impl Words) -> Result<bool, Unsent> {
        let (reports, span, salt, shares) = match &self.kind {
            Kind::Panel { reports, span, salt, shares } => (reports, span, salt, shares),
            Kind::Memoised { .. } => return Ok(true),
            Kind::Life(life) => return Ok(life.is_turn(name, period)),
        };
        let turns =
            |word: &mut dyn FnMut(u64) -> Result<u64, Unsent>| turns_by(*reports, *span, shares.as_deref(), word);
        let mine = match (salt, &kept.turns) {
            (Some(salt), _) => turns(&mut |number| Ok(hashed(&[TAG, salt, name.as_bytes(), &number.to_le_bytes()])))?,
            (None, Some(turns)) => turns.clone(),
            (None, None) if kept.lost > 0 => Vec::new(),
            (None, None) => turns(&mut |_| drawn_word(generator))?,
        };
        let is = mine.contains(&((period - 1) % span + 1));
        if salt.is_none() {
            kept.turns = Some(mine);
        }
        Ok(is)
    }

    /// A report that is drawn now, or remembered; none where nothing may be drawn.
    fn drawn(
        &self,
        kept: &mut Kept,
        name: &str,
        value: &Value<'_>,
        generator: &mut impl Words,
    ) -> Result<Option<String>, Unsent> {
        let values = match &self.kind {
            Kind::Panel { .. } => return Ok(self.mechanism.report(value, generator)?.pop()),
            Kind::Life(life) => return life.drawn(&self.mechanism, kept, name, value, generator),
            Kind::Memoised { values } => values,
        };
        let offset = match kept.offset {
            Some(offset) => offset,
            None => drawn_word(generator)? >> 11,
        };
        kept.offset = Some(offset);
        let (place, at) = self.place(value, offset)?;
        if !kept.draws.contains_key(&place) && (kept.draws.len() as u64) < *values && kept.lost == 0 {
            kept.draws.extend(self.mechanism.report(&at, generator)?.pop().map(|report| (place, report)));
        }
        if kept.draws.contains_key(&place) {
            kept.last = Some(place);
        }
        Ok(kept.last.and_then(|last| kept.draws.get(&last).cloned()))
    }

    /// The number of a value's category, or of the knot that it is rounded to, and what is reported of it.
    fn place<'a>(&self, value: &Value<'a>, offset: u64) -> Result<(u64, Value<'a>), Stopped> {
        match (&self.mechanism, value) {
            (Mechanism::Names(names), Value::Name(name)) => Ok((names.code(name)? as u64, *value)),
            (Mechanism::Numbers(table), Value::Number(number)) => {
                let (knots, (first, last)) = (&table.parts().knots, table.domain());
                (first <= *number && *number <= last).then_some(()).ok_or(Stopped::NotInDomain)?;
                let below = knots.partition_point(|knot| knot <= number).clamp(1, knots.len() - 1) - 1;
                let share = (number - knots[below]) / (knots[below + 1] - knots[below]);
                let place = below + usize::from(share > offset as f64 / DENOMINATOR as f64);
                Ok((place as u64, Value::Number(knots[place])))
            }
            _ => Err(Stopped::NoValue),
        }
    }
}

/// The turns of words, rising.
fn turns_by(
    reports: u64,
    span: u64,
    shares: Option<&[u64]>,
    word: &mut dyn FnMut(u64) -> Result<u64, Unsent>,
) -> Result<Vec<u64>, Unsent> {
    if let Some(shares) = shares {
        return Ok(vec![1 + picked(shares, word(0)?)]);
    }
    let mut turns = BTreeSet::new();
    for number in 0..reports {
        let last = span - reports + number + 1;
        let turn = 1 + place_of(word(number)?, last);
        turns.insert(if turns.contains(&turn) { last } else { turn });
    }
    Ok(turns.into_iter().collect())
}

/// The place that a word picks of so many, from 0.
fn place_of(word: u64, many: u64) -> u64 {
    ((u128::from(word) * u128::from(many)) >> 64) as u64
}

/// The place that a word picks by shares, from 0.
pub(crate) fn picked(shares: &[u64], word: u64) -> u64 {
    let (chosen, mut end) = (place_of(word, shares.iter().sum()), 0);
    let until = shares.iter().take_while(|share| {
        end += **share;
        end <= chosen
    });
    until.count() as u64
}

pub(crate) fn drawn_word(generator: &mut impl Words) -> Result<u64, Unsent> {
    let mut word = [0];
    generator.fill(&mut word).map_err(|NoRandomness| Stopped::NoRandomness)?;
    Ok(word[0])
}

/// The parts, each with its length before it.
fn framed(parts: &[&[u8]]) -> Vec<u8> {
    parts.iter().flat_map(|part| [&(part.len() as u64).to_le_bytes(), *part].concat()).collect()
}

/// A word of 64 bits that follows from parts.
pub(crate) fn hashed(parts: &[&[u8]]) -> u64 {
    let digest = sha256(&framed(parts));
    u64::from_str_radix(&digest[..16], 16).map_or(0, u64::swap_bytes) // of the digest's bytes the lowest comes first
}
