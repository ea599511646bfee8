//! The field of a power of a prime: what local hashing hashes by.

use alloc::boxed::Box;

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
        let g = self.size();
        let (mut free, mut start) = (0, 0); // seeds before those with so many free coefficients behind their one
        while free + 1 < digits && start + g.pow(free) <= seed {
            start += g.pow(free);
            free += 1;
        }
        let mut total = Parts::default();
        for i in 0..digits {
            let place = digits - 1 - i;
            let factor = match place.cmp(&free) {
                core::cmp::Ordering::Greater => 0,
                core::cmp::Ordering::Equal => 1,
                core::cmp::Ordering::Less => (seed - start) / g.pow(place) % g,
            };
            self.add_product(&mut total, factor, code / g.pow(i) % g);
        }
        (0..self.tail.len()).rev().fold(0, |whole, i| whole * self.prime + total[i])
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
