//! The exact table (docs/table-format.md): its law, its rows, and the proof of every ratio.

use crate::around::{self, list, members, need_outputs, need_unbiased, number, wholes};
use crate::json::Json;
use crate::whole::{exponential_below, unit_of, Sum, Whole};
use crate::{need, Refused};
use optldp_drawing::{Law, Parts, Rows, Table, DENOMINATOR, MOST_DIGITS};

const MOST_ENTRIES: usize = 1 << 25;
const KEYS: [&str; 11] = [
    "format",
    "units",
    "epsilon",
    "knots",
    "low",
    "high",
    "denominator",
    "numerators",
    "within",
    "provenance",
    "prior",
];

pub fn read(document: &Json, identifier: String) -> Result<Table, Refused> {
    need(document.member("promise").is_none(), "a table must promise pure epsilon-LDP, got another promise")?;
    let [_, _, _, _, low, high, denominator, numerators, within, _, _] = members(document, KEYS)?;
    need_denominator(denominator)?;
    let around = around::read(document)?;
    let (low, high) = (ends(low)?, ends(high)?);
    need_outputs(&low, &high)?;
    let law = law(within, &low, &high)?;
    let sums = proved_sums(list(numerators)?, around.knots.len(), low.len(), around.epsilon)?;
    if around.unbiased {
        prove_unbiased(&around.knots, &low, &high, &law, &sums)?;
    }
    let largest = |(low, high): (&f64, &f64)| if low < high { high.next_down() } else { *high };
    Ok(Table::from_proved(Parts {
        epsilon: around.epsilon,
        units: around.units,
        identifier,
        knots: around.knots.into(),
        top: low.iter().zip(&high).map(largest).collect(),
        low: low.into(),
        high: high.into(),
        rows: Rows::Sums(sums.into()),
        law,
    }))
}

pub fn need_denominator(value: &Json) -> Result<(), Refused> {
    let whole = matches!(value, Json::Number(_, Some(whole)) if *whole == DENOMINATOR as i64);
    need(whole, "denominator must be 9007199254740992")
}

fn ends(value: &Json) -> Result<Vec<f64>, Refused> {
    let end = |each: &Json| match each {
        Json::Text(text) if text == "inf" => Ok(f64::INFINITY),
        Json::Text(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
        _ => number(each),
    };
    list(value)?.iter().map(end).collect()
}

fn law(within: &Json, low: &[f64], high: &[f64]) -> Result<Law, Refused> {
    if within.member("kind").is_some_and(|kind| kind.is("geometric-tails")) {
        let [_, step, ratio] = members(within, ["kind", "step", "ratio"])?;
        return tails(number(step)?, number(ratio)?, low, high);
    }
    let [kind] = members(within, ["kind"])?;
    need(kind.is("uniform"), "the law within outputs must be the same for all rows")?;
    need(low.iter().chain(high).all(|end| end.is_finite()), "a uniform law needs finite ends")?;
    uniform(low, high)
}

fn tails(step: f64, ratio: f64, low: &[f64], high: &[f64]) -> Result<Law, Refused> {
    need(step > 0.0 && step <= 1e120, "within.step must be in (0, 1e120]")?;
    need(ratio > 0.0 && ratio < 1.0, "within.ratio must be between 0 and 1")?;
    let left = if low[0] == f64::NEG_INFINITY { high[0] } else { f64::NEG_INFINITY };
    let right = high.iter().position(|end| *end == f64::INFINITY).map_or(f64::INFINITY, |j| low[j]);
    for (start, end) in low.iter().zip(high) {
        let tail = (*start == f64::NEG_INFINITY) != (*end == f64::INFINITY);
        need(start == end || tail, "beside geometric tails there must be only points")?;
        let between = left < *start && *start < right;
        need(start < end || between, "points must lie between the geometric tails")?;
    }
    need(left != right, "two geometric tails must have ends of their own")?;
    let (mut odds, mut q) = (Vec::new(), ratio);
    loop {
        let often = (q / (1.0 + q) * DENOMINATOR as f64).round_ties_even() as u64;
        if often == 0 {
            return Ok(Law::Tails { step, odds: odds.into() });
        }
        need(odds.len() < MOST_DIGITS, "within.ratio must be between 0 and 1")?; // no double has so many digits
        odds.push(often);
        q *= q;
    }
}

/// Where a report of a cell goes that equals a point inside it: to the next double that is none, else to the one before.
fn uniform(low: &[f64], high: &[f64]) -> Result<Law, Refused> {
    let points: Vec<f64> = low.iter().zip(high).filter(|(start, end)| start == end).map(|(start, _)| *start).collect();
    let mut down: Vec<f64> = points.iter().map(|point| point.next_down()).collect();
    let mut up: Vec<f64> = points.iter().map(|point| point.next_up()).collect();
    for i in 1..points.len() {
        if points[i - 1] == down[i] {
            down[i] = down[i - 1];
        }
    }
    for i in (1..points.len()).rev() {
        if points[i] == up[i - 1] {
            up[i - 1] = up[i];
        }
    }
    let (mut hidden, mut refuges) = (Vec::new(), Vec::new());
    for (start, end) in low.iter().zip(high).filter(|(start, end)| start < end) {
        let inside = points.partition_point(|point| point < start)..points.partition_point(|point| point < end);
        for i in inside {
            need(up[i] < *end || down[i] >= *start, "a cell must hold a double that is no point")?;
            hidden.push(points[i]);
            refuges.push(if up[i] < *end { up[i] } else { down[i] });
        }
    }
    Ok(Law::Uniform { hidden: hidden.into(), refuges: refuges.into() })
}

/// Reads rows, into their running sums, and proves every ratio: largest 2^128 <= p smallest.
pub fn proved_sums(rows: &[Json], inputs: usize, outputs: usize, epsilon: f64) -> Result<Vec<u64>, Refused> {
    need(rows.len() == inputs, "numerators must have a row for each knot or category")?;
    need(inputs * outputs <= MOST_ENTRIES, "rows times outputs must be at most 2^25")?;
    let mut sums = Vec::with_capacity(inputs * outputs);
    let (mut smallest, mut largest) = (vec![u64::MAX; outputs], vec![0; outputs]);
    for row in rows {
        let row = wholes(row, 0, DENOMINATOR as i64)?;
        need(row.len() == outputs, "every row must have a number for each output")?;
        let mut sum = 0;
        for (j, each) in row.into_iter().enumerate() {
            let each = each as u64; // at least 0
            sum += each;
            need(sum <= DENOMINATOR, "every row must sum to 2^53 exactly, got more")?;
            sums.push(sum);
            smallest[j] = each.min(smallest[j]);
            largest[j] = each.max(largest[j]);
        }
        need(sum == DENOMINATOR, "every row must sum to 2^53 exactly, got less")?;
    }
    let limit = exponential_below(epsilon);
    for (small, large) in smallest.into_iter().zip(largest) {
        let fits = Whole::of(u128::from(large)).up(128) <= limit.times(small);
        need(fits, "every ratio must be proved at most e^epsilon")?;
    }
    Ok(sums)
}

/// The mean report of an output, in units of 2^(unit - 54).
fn mean(low: f64, high: f64, law: &Law, unit: i32) -> Sum {
    let mut mean = Sum::default();
    match law {
        Law::Tails { step, odds } if low != high => {
            let left = low == f64::NEG_INFINITY;
            mean.add_double(if left { high } else { low }, false, unit, 54);
            let mut one = Sum::default();
            one.add_double(*step, false, unit, 0);
            for (i, often) in odds.iter().enumerate() {
                mean.add(&one.size().up(i + 1), left, *often); // 2^54 times 2^i odds / 2^53, in steps
            }
        }
        _ => {
            mean.add_double(low, false, unit, 53);
            mean.add_double(high, false, unit, 53);
        }
    }
    mean
}

fn prove_unbiased(knots: &[f64], low: &[f64], high: &[f64], law: &Law, sums: &[u64]) -> Result<(), Refused> {
    let step = match law {
        Law::Tails { step, .. } => *step,
        Law::Uniform { .. } => 0.0,
    };
    let unit = unit_of(knots.iter().chain(low).chain(high).chain([&step]));
    let means = low.iter().zip(high).map(|(low, high)| mean(*low, *high, law, unit));
    let means: Vec<(Whole, bool)> = means.map(|mean| (mean.size(), mean.is_negative())).collect();
    let farthest = means.iter().map(|(size, _)| size).max().cloned().unwrap_or_default();
    let mut width = Sum::default();
    width.add_double(knots[knots.len() - 1], false, unit, 107); // 54 of the means and 53 of the numerators
    width.add_double(knots[0], true, unit, 107);
    let width = width.size();
    for (knot, row) in knots.iter().zip(sums.chunks_exact(low.len())) {
        let (mut off, mut before) = (Sum::default(), 0);
        for ((size, negative), sum) in means.iter().zip(row) {
            off.add(size, *negative, sum - before);
            before = *sum;
        }
        off.add_double(*knot, true, unit, 107);
        need_unbiased(&off.size(), &width, &farthest)?;
    }
    Ok(())
}
