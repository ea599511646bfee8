//! From a file to a way of reporting over time whose mechanism is proved private, and whose budgets add up.

use crate::around::{checked_epsilon, list, members, number, numbers, text, unsealed, whole, wholes};
use crate::json::{need_modest, Json};
use crate::over_time::{Kind, Way};
use crate::whole::{exponential_below, parts_of, Whole};
use crate::whole_life::{Branch, Law, Life};
use crate::{categories, exact_table, need, Refused};
use optldp_drawing::{Mechanism, DENOMINATOR};
use std::collections::BTreeSet;

const MOST_PERIODS: i64 = 100_000;
const MOST_ROWS: usize = 10_000;
const MOST_SIGNS: u64 = 32;
const MOST_TOTAL: i64 = (1 << 31) - 1; // of shares

/// Reads the text of a file, a panel, a way that remembers draws, rows or a tree, and proves it private.
///
/// # Errors
///
/// The text is no such file, was altered, or is not proved to keep its epsilon.
///
/// ```
/// assert!(optldp_client::read_way("{}").unwrap_err().to_string().contains("panel"));
/// ```
pub fn read_way(document: &str) -> Result<Way, Refused> {
    need_modest(document.as_bytes())?;
    let file = Json::parse(document)?;
    let says = |key: &str, text: &str| file.member(key).is_some_and(|value| value.is(text));
    let kind = ["panel", "memoised", "rows", "tree"].into_iter().find(|kind| says("kind", kind));
    let known = says("format", "optldp-bundle/1") && kind.is_some();
    need(known, "a file must be a bundle of kind \"panel\", \"memoised\", \"rows\" or \"tree\"")?;
    let (content, identifier) = unsealed(&file)?;
    match kind {
        Some("rows") => return rows(&content, identifier),
        Some("tree") => return tree(&content, identifier),
        _ => {}
    }
    if kind == Some("memoised") {
        let keys = ["format", "kind", "mechanism", "periods", "epsilon", "values"];
        let [_, _, inner, periods, epsilon, values] = members(&content, keys)?;
        let periods = whole(periods, 2, MOST_PERIODS)?;
        let values = whole(values, 1, periods)? as u64;
        let mechanism = mechanism(inner)?;
        let epsilon = checked_budget(epsilon, &mechanism, values)?;
        return Ok(Way { mechanism, periods: periods as u64, epsilon, identifier, kind: Kind::Memoised { values } });
    }
    let keys = ["format", "kind", "mechanism", "periods", "epsilon", "reports", "salt", "shares", "span"];
    let [_, _, inner, periods, epsilon, reports, salt, shares, span] = members(&content, keys)?;
    let periods = whole(periods, 2, MOST_PERIODS)?;
    let within = if *span == Json::Null { periods } else { whole(span, 1, periods)? };
    let reports = whole(reports, 1, within)? as u64;
    let mechanism = mechanism(inner)?;
    let epsilon = checked_budget(epsilon, &mechanism, reports)?;
    let shares = match shares {
        Json::Null => None,
        _ => {
            let shares = checked_shares(shares)?;
            let fits = shares.len() as i64 == periods && reports == 1 && *span == Json::Null;
            need(fits, "there must be a share for each period of one report, and no span")?;
            Some(shares)
        }
    };
    let kind = Kind::Panel { reports, span: within as u64, salt: checked_salt(salt)?, shares };
    Ok(Way { mechanism, periods: periods as u64, epsilon, identifier, kind })
}

fn rows(content: &Json, identifier: String) -> Result<Way, Refused> {
    let keys = ["format", "kind", "mechanism", "rows", "shares", "variances", "salt", "stays", "epsilon"];
    let [_, _, inner, given, shares, variances, salt, stays, epsilon] = members(content, keys)?;
    let (mechanism, epsilon) = table(inner, epsilon)?;
    let rows = list(given)?.iter().map(numbers).collect::<Result<Vec<_>, _>>()?;
    need((1..=MOST_ROWS).contains(&rows.len()), "rows must be 1 to 10000")?;
    let periods = rows[0].len() as u64;
    need((2..=MOST_PERIODS as u64).contains(&periods), "rows must have 2 to 100000 weights")?;
    let weigh = rows.iter().all(|row| row.len() as u64 == periods && row.iter().any(|weight| *weight != 0.0));
    need(weigh, "rows must have as many weights each, not all zero")?;
    let variances = numbers(variances)?;
    let spread = variances.len() == rows.len() && variances.iter().all(|each| *each > 0.0);
    need(spread, "there must be a positive variance for each row")?;
    let tell = rows.iter().any(|row| row.iter().sum::<f64>() != 0.0);
    let fits = *stays == Json::Bool(false) || (*stays == Json::Bool(true) && tell);
    need(fits, "stays must be true or false, and true of rows that tell a value that stays")?;
    let shares = checked_shares(shares)?;
    need(shares.len() == rows.len(), "there must be a share for each row")?;
    let life = Life { shares, salt: needed_salt(salt)?, law: Law::Rows(rows) };
    Ok(Way { mechanism, periods, epsilon, identifier, kind: Kind::Life(life) })
}

fn tree(content: &Json, identifier: String) -> Result<Way, Refused> {
    let keys = ["format", "kind", "table", "periods", "shares", "branches", "variance", "salt", "epsilon"];
    let [_, _, inner, periods, shares, branches, variance, salt, epsilon] = members(content, keys)?;
    let (mechanism, epsilon) = table(inner, epsilon)?;
    let periods = whole(periods, 2, MOST_PERIODS)? as u64;
    let branches = list(branches)?;
    let branches = branches.iter().map(|each| branch(each, periods, epsilon)).collect::<Result<Vec<_>, _>>()?;
    let steps: BTreeSet<u64> = branches.iter().map(|branch| branch.step).collect();
    need(steps.len() == branches.len(), "branches must have different steps")?;
    need(number(variance)? > 0.0, "variance must be positive")?;
    let shares = checked_shares(shares)?;
    need(shares.len() as u64 == periods + branches.len() as u64, "there must be a share for each period and branch")?;
    let life = Life { shares, salt: needed_salt(salt)?, law: Law::Tree(branches) };
    Ok(Way { mechanism, periods, epsilon, identifier, kind: Kind::Life(life) })
}

fn branch(value: &Json, periods: u64, epsilon: f64) -> Result<Branch, Refused> {
    let numbers: Vec<u64> = wholes(value, 1, DENOMINATOR as i64)?.into_iter().map(|number| number as u64).collect();
    let [step, many, least, high, low] = numbers[..] else {
        return Err(Refused("a branch must be five whole numbers"));
    };
    let fits = step < periods && least <= many && many <= MOST_SIGNS && low <= high;
    need(fits, "a branch must have numbers in their ranges")?;
    let proved = Whole::of(high.into()).up(128) <= exponential_below(epsilon).times(low);
    need(proved, "weights of signs must be proved to have a ratio of at most e^epsilon")?;
    let (mut weights, mut orders, mut sum) = (Vec::new(), 1, 0); // orders of so many plus signs among all
    for plus in 0..=many {
        let weight = u128::from(orders) * u128::from(if plus >= least { high } else { low });
        sum += weight;
        weights.push(weight as u64); // it fits, or the sum is refused
        orders = orders * (many - plus) / (plus + 1);
    }
    need(sum <= u128::from(DENOMINATOR), "weights of signs must sum to at most 2^53")?;
    Ok(Branch { step, weights })
}

/// A table of numbers, for one report of a user, and the budget of that.
fn table(document: &Json, epsilon: &Json) -> Result<(Mechanism, f64), Refused> {
    let numbers = document.member("format").is_some_and(|format| format.is("optldp-table/2"));
    need(numbers, "the mechanism must be a table of numbers")?;
    let mechanism = mechanism(document)?;
    let epsilon = checked_budget(epsilon, &mechanism, 1)?;
    Ok((mechanism, epsilon))
}

fn needed_salt(value: &Json) -> Result<[u8; 16], Refused> {
    checked_salt(value)?.ok_or(Refused("there must be a salt"))
}

/// A table, or a mechanism for categories.
fn mechanism(document: &Json) -> Result<Mechanism, Refused> {
    if document.member("format").is_some_and(|format| format.is("optldp-table/2")) {
        return exact_table::read(document, String::new()).map(Mechanism::Numbers);
    }
    categories::read(document, String::new()).map(Mechanism::Names)
}

/// The budget of so many reports of a user, which must be enough; exactly: all are whole numbers of 2^-80.
fn checked_budget(epsilon: &Json, mechanism: &Mechanism, reports: u64) -> Result<f64, Refused> {
    let epsilon = checked_epsilon(epsilon)?;
    let exactly = |budget: f64| {
        let (mantissa, exponent) = parts_of(budget);
        Whole::of(mantissa.into()).up((exponent + 80) as usize) // budgets are at least 1e-6
    };
    let fits = exactly(mechanism.epsilon()).times(reports) <= exactly(epsilon);
    need(fits, "all reports of a user must spend at most epsilon")?;
    Ok(epsilon)
}

fn checked_salt(value: &Json) -> Result<Option<[u8; 16]>, Refused> {
    if *value == Json::Null {
        return Ok(None);
    }
    let (digits, mut salt) = (text(value)?.as_bytes(), [0; 16]);
    let fits = digits.len() == 32 && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    need(fits, "the salt must be 32 hexadecimal digits")?;
    for (byte, pair) in salt.iter_mut().zip(digits.chunks_exact(2)) {
        *byte =
            pair.iter().fold(0, |sum, digit| 16 * sum + if *digit > b'9' { digit - b'a' + 10 } else { digit - b'0' });
    }
    Ok(Some(salt))
}

/// Shares by which a user's word picks.
fn checked_shares(value: &Json) -> Result<Vec<u64>, Refused> {
    let shares = wholes(value, 0, MOST_TOTAL)?;
    let fits = (1..=MOST_TOTAL).contains(&shares.iter().sum::<i64>()); // of at most 2^25 shares
    need(fits, "shares must have a sum from 1 to 2^31 - 1")?;
    Ok(shares.into_iter().map(|share| share as u64).collect())
}
