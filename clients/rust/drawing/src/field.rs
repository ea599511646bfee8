//! The field of a power of a prime: what local hashing hashes by, and where points lie.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

const MOST_PARTS: usize = 8; // 2^8 is the largest field

/// The field of prime^(length of the tail) elements; the tail has the coefficients below the highest of its polynomial.
#[derive(Debug)]
pub struct Field {
    prime: u64,
    tail: Box<[u64]>,
}

type Parts = [u64; MOST_PARTS];

impl Field {
    /// A field of at most 256 elements; whether the polynomial is irreducible is not checked here.
    pub fn new(prime: u64, tail: &[u64]) -> Field {
        assert!((1..=MOST_PARTS).contains(&tail.len()), "a field has 1 to 8 digits");
        Field { prime, tail: tail.into() }
    }

    /// How many elements there are.
    pub fn size(&self) -> u64 {
        self.prime.pow(self.tail.len() as u32)
    }

    /// The hash of a category's number, of so many digits, under a seed.
    ///
    /// ```
    /// let four = optldp_drawing::Field::new(2, &[1, 1]);
    /// assert_eq!([0, 1, 2, 3, 4, 5].map(|code| four.hashed(4, code, 2)), [0, 1, 2, 3, 3, 2]);
    /// ```
    pub fn hashed(&self, seed: u64, code: u64, digits: u32) -> u64 {
        let mut parts = vec![0; digits as usize];
        let mut rest = code;
        for part in &mut parts {
            *part = rest % self.size();
            rest /= self.size();
        }
        self.whole(&self.inner(&self.point(seed, digits), &parts))
    }

    /// How many vectors of so many entries have a one as the first that is not zero.
    pub fn points(&self, length: u32) -> u64 {
        (self.size().pow(length) - 1) / (self.size() - 1)
    }

    /// The vector of a point's number: zeros, its one, and entries that are free.
    pub(crate) fn point(&self, mut number: u64, length: u32) -> Vec<u64> {
        let (q, mut free) = (self.size(), 0);
        while free + 1 < length && number >= q.pow(free) {
            number -= q.pow(free);
            free += 1;
        }
        let mut made = vec![0; (length - 1 - free) as usize];
        made.push(1);
        made.extend((0..free).rev().map(|place| number / q.pow(place) % q));
        made
    }

    /// The number of the point on the line of a vector, which is not zero.
    pub(crate) fn number(&self, vector: &[u64]) -> u64 {
        let first = vector.iter().position(|entry| *entry != 0).unwrap_or(0);
        let (leading, behind) = (vector[first], &vector[first + 1..]);
        let inverse = (1..self.size()).find(|each| self.product(leading, *each) == 1).unwrap_or(1);
        let free = behind.iter().fold(0, |free, entry| free * self.size() + self.product(inverse, *entry));
        self.points(behind.len() as u32) + free
    }

    /// What an inner product lacks to be zero, or to be one.
    pub(crate) fn lacking(&self, a: &[u64], b: &[u64], due: u64) -> u64 {
        let mut parts = self.inner(a, b);
        for part in &mut parts[..self.tail.len()] {
            *part = (self.prime - *part) % self.prime;
        }
        parts[0] = (parts[0] + due) % self.prime;
        self.whole(&parts)
    }

    fn inner(&self, a: &[u64], b: &[u64]) -> Parts {
        let mut total = Parts::default();
        for (x, y) in a.iter().zip(b) {
            self.add_product(&mut total, *x, *y);
        }
        total
    }

    fn product(&self, a: u64, b: u64) -> u64 {
        self.whole(&self.inner(&[a], &[b]))
    }

    fn whole(&self, parts: &Parts) -> u64 {
        parts[..self.tail.len()].iter().rev().fold(0, |whole, part| whole * self.prime + part)
    }

    fn parts(&self, mut element: u64) -> Parts {
        let mut parts = Parts::default();
        for part in &mut parts[..self.tail.len()] {
            *part = element % self.prime;
            element /= self.prime;
        }
        parts
    }

    fn add_product(&self, total: &mut Parts, a: u64, b: u64) {
        let (mut power, many) = (self.parts(a), self.tail.len());
        for digit in &self.parts(b)[..many] {
            for i in 0..many {
                total[i] = (total[i] + digit * power[i]) % self.prime;
            }
            let top = power[many - 1]; // what leaves at the top comes back as the polynomial has it
            for i in (0..many).rev() {
                let below = if i > 0 { power[i - 1] } else { 0 };
                power[i] = (below + (self.prime - top) * self.tail[i]) % self.prime;
            }
        }
    }
}
