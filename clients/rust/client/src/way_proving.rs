//! From a file to a way of reporting over time whose mechanism is proved private, and whose budgets add up.

use crate::around::{checked_epsilon, members, text, unsealed, whole, wholes};
use crate::json::{need_modest, Json};
use crate::over_time::{Kind, Way};
use crate::whole::{parts_of, Whole};
use crate::{categories, exact_table, need, Refused};
use optldp_drawing::Mechanism;

const MOST_PERIODS: i64 = 100_000;
const MOST_TOTAL: i64 = (1 << 31) - 1; // of shares

/// Reads the text of a file, a panel or a way that remembers draws, and proves it private.
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
    let (panel, remembers) = (says("kind", "panel"), says("kind", "memoised"));
    let known = says("format", "optldp-bundle/1") && (panel || remembers);
    need(known, "a file must be a bundle of kind \"panel\" or \"memoised\"")?;
    let (content, identifier) = unsealed(&file)?;
    if remembers {
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
