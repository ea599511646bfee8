//! What tables and floor forms share: the checksum, the budget, the knots, the words around them, the outputs.

use crate::json::{need_modest, Json};
use crate::sha256::sha256;
use crate::whole::Whole;
use crate::{exact_table, floor_form, need, Refused};
use optldp_drawing::Table;

pub const MOST_SIDE: usize = 1 << 15;

/// Reads the text of a file, an exact table or a floor form, and proves it private.
///
/// # Errors
///
/// The text is no such file, was altered, or is not proved to keep its epsilon.
///
/// ```
/// let refused = optldp_client::read_table("{}").unwrap_err();
/// assert!(refused.to_string().contains("optldp-table/2"));
/// ```
pub fn read_table(text: &str) -> Result<Table, Refused> {
    need_modest(text.as_bytes())?;
    let document = Json::parse(text)?;
    need(matches!(document, Json::Object(_)), "the file must be an object")?;
    let says = |key: &str, text: &str| document.member(key).is_some_and(|value| value.is(text));
    let exact = says("format", "optldp-table/2");
    let floor = says("format", "optldp-bundle/1") && says("kind", "floor");
    need(exact || floor, "a file must be of the format \"optldp-table/2\", or a bundle of kind \"floor\"")?;
    let (content, identifier) = unsealed(&document)?;
    if exact {
        exact_table::read(&content, identifier)
    } else {
        floor_form::read(&content, identifier)
    }
}

/// What is read of a document whatever its kind.
pub struct Around {
    pub epsilon: f64,
    pub units: String,
    pub knots: Vec<f64>,
    pub unbiased: bool,
}

/// The members of an object, which must be these and no others.
pub fn members<'a, const N: usize>(object: &'a Json, keys: [&str; N]) -> Result<[&'a Json; N], Refused> {
    const KEYS: Refused = Refused("an object must have the keys of its format, and no others");
    let Json::Object(own) = object else {
        return Err(Refused("the document must have objects where the format has them"));
    };
    need(own.len() == N, KEYS.0)?;
    let mut found = [object; N];
    for (place, key) in found.iter_mut().zip(keys) {
        *place = own.get(key).ok_or(KEYS)?;
    }
    Ok(found)
}

pub fn list(value: &Json) -> Result<&[Json], Refused> {
    match value {
        Json::List(list) => Ok(list),
        _ => Err(Refused("knots, ends, weights, rows and the like must be lists")),
    }
}

pub fn number(value: &Json) -> Result<f64, Refused> {
    match value {
        Json::Number(double, _) => Ok(*double),
        _ => Err(Refused("epsilon, knots, ends, weights and the like must be numbers")),
    }
}

pub fn numbers(value: &Json) -> Result<Vec<f64>, Refused> {
    list(value)?.iter().map(number).collect()
}

/// A whole number in a range.
pub fn whole(value: &Json, least: i64, most: i64) -> Result<i64, Refused> {
    match value {
        Json::Number(_, Some(whole)) if (least..=most).contains(whole) => Ok(*whole),
        _ => Err(Refused("numerators, shares, places, floors and the like must be whole numbers in their range")),
    }
}

/// A list of whole numbers in a range.
pub fn wholes(value: &Json, least: i64, most: i64) -> Result<Vec<i64>, Refused> {
    list(value)?.iter().map(|each| whole(each, least, most)).collect()
}

pub fn text(value: &Json) -> Result<&str, Refused> {
    match value {
        Json::Text(text) => Ok(text),
        _ => Err(Refused("units, method, version and categories must be text")),
    }
}

/// A file without its checksum, which must fit, and the mechanism's name in files of reports. Documents inside it have
/// no checksum.
pub fn unsealed(document: &Json) -> Result<(Json, String), Refused> {
    let Json::Object(own) = document else {
        return Err(Refused("the file must be an object"));
    };
    let mut content = own.clone();
    let said = content.remove("checksum");
    let mut bytes = Vec::new();
    let content = Json::Object(content);
    content.encode(&mut bytes);
    let digest = sha256(&bytes);
    let fits = said.is_some_and(|said| said.is(&format!("sha256:{digest}")));
    need(fits, "the checksum must fit: the file was altered")?;
    Ok((content, format!("t{}", &digest[..12])))
}

/// A budget, which is from 1e-6 to 16.
pub fn checked_epsilon(value: &Json) -> Result<f64, Refused> {
    let epsilon = number(value)?;
    need((1e-6..=16.0).contains(&epsilon), "epsilon must be in [1e-6, 16]")?;
    Ok(epsilon)
}

/// Checks how a mechanism came about; returns the parameters of its method.
pub fn checked_provenance(value: &Json) -> Result<&Json, Refused> {
    let [method, parameters, version, certificate] =
        members(value, ["method", "parameters", "version", "certificate"])?;
    text(method)?;
    text(version)?;
    need_record(parameters)?;
    if *certificate != Json::Null {
        need_record(certificate)?;
    }
    Ok(parameters)
}

/// An object of plain values, or of lists of them.
fn need_record(record: &Json) -> Result<(), Refused> {
    let Json::Object(own) = record else {
        return Err(Refused("parameters and certificate must be objects"));
    };
    let plain = |value: &Json| !matches!(value, Json::List(_) | Json::Object(_));
    let fits = own.values().all(|value| match value {
        Json::List(list) => list.iter().all(plain),
        _ => plain(value),
    });
    need(fits, "parameters and certificate must hold plain values or lists of them")
}

fn need_prior(prior: &Json, knots: usize) -> Result<(), Refused> {
    if *prior == Json::Null {
        return Ok(());
    }
    let [weights, rounding, source] = members(prior, ["weights", "rounding", "source"])?;
    let (weights, rounding) = (numbers(weights)?, numbers(rounding)?);
    let many = weights.len() == knots && rounding.len() + 1 == knots;
    need(many, "a prior must have a weight for each knot, and a rounding for each interval")?;
    need(weights.iter().chain(&rounding).all(|each| *each >= 0.0), "a prior must have no negative numbers")?;
    need((weights.iter().sum::<f64>() - 1.0).abs() <= 1e-9, "the weights of a prior must sum to 1")?;
    let named = ["public", "private-report", "sensitive"].iter().any(|name| source.is(name));
    need(named, "prior.source must be public, private-report or sensitive")
}

/// Checks what is around the numbers of a table.
pub fn read(document: &Json) -> Result<Around, Refused> {
    let member = |key: &str| document.member(key).unwrap_or(&Json::Null); // both formats have these keys
    let epsilon = checked_epsilon(member("epsilon"))?;
    let knots = numbers(member("knots"))?;
    need(knots.len() >= 2, "knots must be at least 2")?;
    need(knots.len() <= MOST_SIDE, "knots must be at most 32768")?;
    need(knots.windows(2).all(|pair| pair[0] < pair[1]), "knots must be strictly increasing")?;
    let width = knots[knots.len() - 1] - knots[0];
    need(1e-100 < width && width < 1e100, "knots must span 1e-100 to 1e100")?;
    let units = text(member("units"))?.to_owned();
    let parameters = checked_provenance(member("provenance"))?;
    need_prior(member("prior"), knots.len())?;
    let unbiased = parameters.member("unbiased") == Some(&Json::Bool(true));
    Ok(Around { epsilon, units, knots, unbiased })
}

/// Checks the ends of outputs, which must be as many low as high ones.
pub fn need_outputs(low: &[f64], high: &[f64]) -> Result<(), Refused> {
    need(low.len() == high.len() && !low.is_empty(), "outputs must have as many low as high ends, at least one")?;
    need(low.len() <= MOST_SIDE, "outputs must be at most 32768")?;
    let (mut reach, mut before) = (f64::NEG_INFINITY, None);
    for (start, end) in low.iter().copied().zip(high.iter().copied()) {
        need(start < end || (start == end && start.is_finite()), "every output must have low <= high")?;
        let near = |end: f64| end.abs() <= 1e120 || end.is_infinite();
        need(near(start) && near(end), "finite ends must be within 1e120")?;
        need(before < Some((start, end)), "outputs must be sorted by low end, then by high end, without repeats")?;
        need(start == end || start >= reach, "cells must not overlap the cell before them")?;
        if start < end {
            reach = end;
        }
        before = Some((start, end));
    }
    Ok(())
}

/// Whether means are off by at most 1e-12 of the domain, or 2^-50 of the largest report. `off` and `width` are in
/// units of 2^-53 of those of `farthest`.
pub fn need_unbiased(off: &Whole, width: &Whole, farthest: &Whole) -> Result<(), Refused> {
    let fits = *off <= farthest.up(3) || off.times(1_000_000_000_000) <= *width;
    need(fits, "a table that claims to be unbiased must be so to 1e-12 of its domain")
}
