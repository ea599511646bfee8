//! Random words one by one, and what is drawn from them for every sort of mechanism.

use crate::{clear, NoRandomness, Stopped, Words};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

const MOST_AT_ONCE: usize = 32; // words

/// Words one by one, asked for together: first as many as are expected, then what is drawn again. It clears them.
pub(crate) struct Taken<'a, G: Words> {
    generator: &'a mut G,
    held: [u64; MOST_AT_ONCE],
    next: usize,
    filled: usize,
    expected: usize,
}

impl<'a, G: Words> Taken<'a, G> {
    pub(crate) fn of(generator: &'a mut G, expected: usize) -> Taken<'a, G> {
        Taken { generator, held: [0; MOST_AT_ONCE], next: 0, filled: 0, expected }
    }

    pub(crate) fn next(&mut self) -> Result<u64, Stopped> {
        if self.next == self.filled {
            self.next = 0;
            self.filled = self.expected.clamp(1, MOST_AT_ONCE);
            self.expected = self.expected.saturating_sub(self.filled);
            let filled = self.generator.fill(&mut self.held[..self.filled]);
            filled.map_err(|NoRandomness| Stopped::NoRandomness)?;
        }
        self.next += 1;
        Ok(self.held[self.next - 1])
    }

    /// A whole number below a bound; words that would favour some are drawn again.
    pub(crate) fn below(&mut self, bound: u64) -> Result<u64, Stopped> {
        let rest = (u64::MAX % bound + 1) % bound; // of 2^64
        loop {
            let word = self.next()?;
            if rest == 0 || word < 0u64.wrapping_sub(rest) {
                return Ok(word % bound);
            }
        }
    }
}

impl<G: Words> Drop for Taken<'_, G> {
    fn drop(&mut self) {
        clear(&mut self.held);
    }
}

/// So many different ones of many, all orders alike: the first steps of a Fisher-Yates shuffle.
pub(crate) fn choices<G: Words>(many: usize, chosen: usize, words: &mut Taken<'_, G>) -> Result<Vec<usize>, Stopped> {
    let mut moved = BTreeMap::new(); // what stands where the shuffle has been
    let mut drawn = Vec::with_capacity(chosen);
    for i in 0..chosen {
        let other = i + words.below((many - i) as u64)? as usize;
        drawn.push(moved.get(&other).copied().unwrap_or(other));
        moved.insert(other, moved.get(&i).copied().unwrap_or(i));
    }
    Ok(drawn)
}
