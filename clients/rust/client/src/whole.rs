//! Whole numbers of any length, as few operations as the proofs take.

use std::cmp::Ordering;

/// A whole number from 0 on; the lowest limb first, no zero limb last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole(Vec<u64>);

impl Whole {
    pub fn of(number: u128) -> Whole {
        Whole(vec![number as u64, (number >> 64) as u64]).trimmed()
    }

    /// The number, where it fits.
    pub fn value(&self) -> Option<u128> {
        let limb = |i: usize| u128::from(self.0.get(i).copied().unwrap_or(0));
        (self.0.len() <= 2).then(|| limb(1) << 64 | limb(0))
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// How many binary digits it has.
    pub fn bits(&self) -> usize {
        self.0.last().map_or(0, |top| 64 * self.0.len() - top.leading_zeros() as usize)
    }

    /// Adds another number a number of times.
    pub fn add_times(&mut self, other: &Whole, times: u64) {
        if times == 0 {
            return;
        }
        let longest = self.0.len().max(other.0.len() + 1);
        self.0.resize(longest + 1, 0);
        let mut carry = 0u128; // at most 2^64: nothing overflows
        for (i, limb) in self.0.iter_mut().enumerate() {
            let added = u128::from(other.0.get(i).copied().unwrap_or(0)) * u128::from(times);
            carry += added + u128::from(*limb);
            *limb = carry as u64;
            carry >>= 64;
        }
        self.trim();
    }

    pub fn times(&self, factor: u64) -> Whole {
        let mut product = Whole::default();
        product.add_times(self, factor);
        product
    }

    pub fn product(&self, other: &Whole) -> Whole {
        let mut product = Whole::default();
        for limb in other.0.iter().rev() {
            product = product.up(64);
            product.add_times(self, *limb);
        }
        product
    }

    /// How far two numbers are apart.
    pub fn apart(&self, other: &Whole) -> Whole {
        let (more, less) = if *self >= *other { (self, other) } else { (other, self) };
        let mut left = more.clone();
        let mut borrow = false;
        for (i, limb) in left.0.iter_mut().enumerate() {
            let (once, one) = limb.overflowing_sub(less.0.get(i).copied().unwrap_or(0));
            let (twice, two) = once.overflowing_sub(u64::from(borrow));
            *limb = twice;
            borrow = one || two;
        }
        left.trimmed()
    }

    /// Times 2^bits.
    pub fn up(&self, bits: usize) -> Whole {
        let mut limbs = vec![0; bits / 64];
        limbs.extend(self.times(1 << (bits % 64)).0);
        Whole(limbs).trimmed()
    }

    /// Without its last bits.
    pub fn down(&self, bits: usize) -> Whole {
        let rest = bits % 64;
        let limbs = self.0.get(bits / 64..).unwrap_or(&[]);
        let above = |i: usize| u128::from(limbs.get(i + 1).copied().unwrap_or(0)) << 64;
        let shifted = limbs.iter().enumerate().map(|(i, limb)| ((above(i) | u128::from(*limb)) >> rest) as u64);
        Whole(shifted.collect()).trimmed()
    }

    /// Divided by a divisor, rounded down.
    pub fn over(&self, divisor: u64) -> Whole {
        let mut quotient = self.clone();
        let mut rest = 0u128;
        for limb in quotient.0.iter_mut().rev() {
            rest = rest << 64 | u128::from(*limb);
            *limb = (rest / u128::from(divisor)) as u64;
            rest %= u128::from(divisor);
        }
        quotient.trimmed()
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn trimmed(mut self) -> Whole {
        self.trim();
        self
    }
}

impl Ord for Whole {
    fn cmp(&self, other: &Whole) -> Ordering {
        let lengths = self.0.len().cmp(&other.0.len());
        lengths.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Whole {
    fn partial_cmp(&self, other: &Whole) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A sum of numbers with signs: what is added, and what is taken.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    added: Whole,
    taken: Whole,
}

impl Sum {
    pub fn add(&mut self, number: &Whole, negative: bool, times: u64) {
        let side = if negative { &mut self.taken } else { &mut self.added };
        side.add_times(number, times);
    }

    /// Adds a finite double in units of 2^unit, of which it must be a multiple, times 2^bits.
    pub fn add_double(&mut self, value: f64, negative: bool, unit: i32, bits: usize) {
        let (mantissa, exponent) = parts_of(value);
        if mantissa != 0 {
            let above = usize::try_from(exponent - unit).expect("a unit is that of the smallest double");
            self.add(&Whole::of(u128::from(mantissa)).up(above + bits), negative != (value < 0.0), 1);
        }
    }

    pub fn size(&self) -> Whole {
        self.added.apart(&self.taken)
    }

    pub fn is_negative(&self) -> bool {
        self.added < self.taken
    }
}

/// The size of a finite double as a whole number times a power of two, and the exponent of that power.
pub fn parts_of(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

/// The largest power of two, by its exponent, of which all finite doubles among these are multiples for certain.
pub fn unit_of<'a>(values: impl IntoIterator<Item = &'a f64>) -> i32 {
    let known = values.into_iter().filter(|value| value.is_finite() && **value != 0.0);
    known.map(|value| parts_of(*value).1).min().unwrap_or(0)
}

/// A whole number p with p / 2^128 <= e^epsilon, for epsilon from 1e-6 to 16: Taylor's series, all terms rounded down.
pub fn exponential_below(epsilon: f64) -> Whole {
    let (mantissa, exponent) = parts_of(epsilon);
    let bits = usize::try_from(-exponent).expect("doubles up to 16 have digits below one");
    let (mut total, mut term) = (Whole::default(), Whole::of(1).up(128));
    for k in 1.. {
        if term.is_zero() {
            break;
        }
        total.add_times(&term, 1);
        term = term.times(mantissa).down(bits).over(k); // a floor of a floor is that of the whole fraction
    }
    total
}

#[cfg(test)]
mod tests {
    use super::{exponential_below, Sum, Whole};

    /// The number is that of the Python client's example, from fractions.
    #[test]
    fn the_exponential_is_rounded_down() {
        let below = exponential_below(1.1).apart(&Whole::default());
        let mut known = Whole::default();
        for digit in "1022264725251957049509428564144370727881".bytes() {
            known = known.times(10);
            known.add_times(&Whole::of(u128::from(digit - b'0')), 1);
        }
        assert_eq!(below, known);
    }

    #[test]
    fn shifts_undo_each_other_and_borrows_go_on() {
        let number = Whole::of(u128::MAX).up(77);
        assert_eq!(number.down(77).value(), Some(u128::MAX));
        let mut one_more = number.clone();
        one_more.add_times(&Whole::of(1), u64::MAX);
        assert_eq!(one_more.apart(&number).value(), Some(u128::from(u64::MAX)));
        assert_eq!(Whole::of(1).up(128).apart(&Whole::of(1)).value(), Some(u128::MAX));
    }

    #[test]
    fn doubles_keep_their_sign_in_sums() {
        let mut sum = Sum::default();
        sum.add_double(-1.5, false, -60, 0);
        sum.add_double(0.5, true, -60, 0);
        assert!(sum.is_negative());
        assert_eq!(sum.size().value(), Some(2 << 60));
    }
}
