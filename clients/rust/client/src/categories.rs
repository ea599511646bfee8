//! Mechanisms for categories (docs/bundle-format.md), and the proof of their ratio.

use crate::around::{checked_epsilon, checked_provenance, list, members, text, unsealed, whole};
use crate::exact_table::{need_denominator, proved_sums};
use crate::json::{need_modest, Json};
use crate::whole::{exponential_below, Whole};
use crate::{need, Refused};
use optldp_drawing::{Categories, Field, Oracle, DENOMINATOR};
use std::collections::BTreeSet;

const MOST_CATEGORIES: usize = 1 << 20;
const MOST_NAMED: usize = 1 << 27; // categories times the characters of the longest
const MOST_CHOSEN: usize = 1 << 19;
const KINDS: [(&str, [&str; 2]); 5] = [
    ("categorical-table", ["denominator", "numerators"]),
    ("unary-encoding", ["own_one", "other_one"]),
    ("subset-selection", ["n_chosen", "own_chosen"]),
    ("local-hashing", ["n_values", "own_value"]),
    ("projective-geometry", ["order", "own_supported"]),
];

/// For each power of a prime that is no prime: the coefficients below the highest of its polynomial.
const POLYNOMIALS: [(u64, &[u64]); 16] = [
    (4, &[1, 1]),
    (8, &[1, 0, 1]),
    (16, &[1, 0, 0, 1]),
    (32, &[1, 0, 0, 1, 0]),
    (64, &[1, 0, 0, 0, 0, 1]),
    (128, &[1, 0, 0, 0, 0, 0, 1]),
    (256, &[1, 0, 0, 0, 1, 1, 0, 1]),
    (9, &[1, 0]),
    (27, &[1, 0, 2]),
    (81, &[1, 0, 1, 1]),
    (243, &[1, 0, 0, 0, 2]),
    (25, &[1, 1]),
    (125, &[1, 0, 1]),
    (49, &[1, 0]),
    (121, &[1, 0]),
    (169, &[1, 3]),
];

/// Reads the text of a file, a mechanism for categories, and proves it private.
///
/// # Errors
///
/// The text is no such file, was altered, or is not proved to keep its epsilon.
///
/// ```
/// let refused = optldp_client::read_categories("{}").unwrap_err();
/// assert!(refused.to_string().contains("categories"));
/// ```
pub fn read_categories(text: &str) -> Result<Categories, Refused> {
    need_modest(text.as_bytes())?;
    let document = Json::parse(text)?;
    need_kind(&document)?;
    let (content, identifier) = unsealed(&document)?;
    read(&content, identifier)
}

/// The kind of a document, if it is for categories, and the two members of its own.
fn need_kind(document: &Json) -> Result<(&'static str, [&'static str; 2]), Refused> {
    let says = |key: &str, text: &str| document.member(key).is_some_and(|value| value.is(text));
    let known = KINDS.iter().find(|(kind, _)| says("format", "optldp-bundle/1") && says("kind", kind));
    known.copied().ok_or(Refused("a file must be a bundle of a kind for categories that this client has"))
}

/// Reads a mechanism for categories that is a file, or stands in one.
pub fn read(document: &Json, identifier: String) -> Result<Categories, Refused> {
    let (kind, own) = need_kind(document)?;
    let keys = ["format", "kind", "categories", "epsilon", "provenance", own[0], own[1]];
    let [_, _, categories, epsilon, provenance, first, second] = members(document, keys)?;
    let labels = labels(categories)?;
    let epsilon = checked_epsilon(epsilon)?;
    checked_provenance(provenance)?;
    let (oracle, ratio) = match kind {
        "categorical-table" => {
            need_denominator(first)?;
            let rows = list(second)?;
            let outputs = rows.first().map_or(Ok(0), |row| list(row).map(<[Json]>::len))?;
            let sums = proved_sums(rows, labels.len(), outputs, epsilon)?;
            (Oracle::Table { sums: sums.into(), outputs }, (1, 1))
        }
        "unary-encoding" => unary(first, second)?,
        "subset-selection" => subset(first, second, labels.len())?,
        "projective-geometry" => geometry(first, second, labels.len())?,
        _ => hash(first, second, labels.len())?,
    };
    prove_ratio(&Whole::of(ratio.0), &Whole::of(ratio.1), epsilon)?;
    Ok(Categories::from_proved(epsilon, identifier, labels.into(), oracle))
}

/// Proves that a ratio, as a fraction, is at most e^epsilon.
pub fn prove_ratio(above: &Whole, below: &Whole, epsilon: f64) -> Result<(), Refused> {
    let fits = !below.is_zero() && above.up(128) <= exponential_below(epsilon).product(below);
    need(fits, "every ratio must be proved at most e^epsilon")
}

pub fn labels(value: &Json) -> Result<Vec<String>, Refused> {
    let labels: Vec<&str> = list(value)?.iter().map(text).collect::<Result<_, _>>()?;
    need((2..=MOST_CATEGORIES).contains(&labels.len()), "categories must be 2 to 2^20")?;
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    need(labels.len() * longest <= MOST_NAMED, "categories must be fewer or have shorter names")?;
    let named = labels.iter().all(|label| !label.is_empty() && !label.contains('\0'));
    need(named, "categories must be neither empty nor hold NUL")?;
    let different: BTreeSet<&str> = labels.iter().copied().collect();
    need(different.len() == labels.len(), "categories must differ, got one twice")?;
    Ok(labels.into_iter().map(str::to_owned).collect())
}

/// A share of 2^53 that is neither none nor all.
pub fn share(value: &Json) -> Result<u64, Refused> {
    Ok(whole(value, 1, DENOMINATOR as i64 - 1)? as u64)
}

/// A mechanism, and the largest ratio of the probabilities of a report, as a fraction.
type Ratio = (Oracle, (u128, u128));

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

fn unary(own: &Json, other: &Json) -> Result<Ratio, Refused> {
    let (own, other) = (share(own)?, share(other)?);
    need(other < own, "other_one must be below own_one")?;
    let ratio = (product(own, DENOMINATOR - other), product(other, DENOMINATOR - own));
    Ok((Oracle::Unary { own, other }, ratio))
}

fn subset(chosen: &Json, own: &Json, size: usize) -> Result<Ratio, Refused> {
    let chosen = whole(chosen, 1, (size - 1).min(MOST_CHOSEN) as i64)? as usize;
    let own = share(own)?;
    let (many, all) = (chosen as u64, size as u64);
    need(product(own, all) > product(many, DENOMINATOR), "own_chosen must be more than that of a random set")?;
    let ratio = (product(own, all - many), product(DENOMINATOR - own, many));
    Ok((Oracle::Subset { chosen, own }, ratio))
}

/// The field of so many elements.
fn field(size: &Json) -> Result<Field, Refused> {
    let size = whole(size, 2, 256)? as u64;
    let prime = (2..=size).find(|p| size % p == 0).unwrap_or(size);
    let tail = POLYNOMIALS.iter().find(|(power, _)| *power == size).map(|(_, tail)| *tail);
    need(prime == size || tail.is_some(), "n_values and order must be powers of primes")?;
    Ok(Field::new(prime, tail.unwrap_or(&[0])))
}

fn hash(values: &Json, own: &Json, size: usize) -> Result<Ratio, Refused> {
    let (field, own) = (field(values)?, share(own)?);
    let g = field.size();
    let other = (DENOMINATOR - own) / (g - 1);
    let equal = other * (g - 1) == DENOMINATOR - own && other < own;
    need(equal, "own_value must leave smaller equal shares of 2^53")?;
    let digits = (1..).find(|digits| g.pow(*digits) >= size as u64).unwrap_or(1);
    Ok((Oracle::Hash { field, digits, own, other }, (own.into(), other.into())))
}

fn geometry(order: &Json, own: &Json, size: usize) -> Result<Ratio, Refused> {
    let (field, own) = (field(order)?, share(own)?);
    let length = (2..).find(|length| field.points(*length) >= size as u64).unwrap_or(2);
    let (n, m) = (field.points(length), field.points(length - 1));
    need(product(own, n) > product(m, DENOMINATOR), "own_supported must be more than that of a random point")?;
    Ok((Oracle::Geometry { field, length, own }, (product(own, n - m), product(DENOMINATOR - own, m))))
}
