//! The floor form (docs/floor-form.md): rows are a floor, and what a window of a line of extras adds to it.

use crate::around::{self, members, need_outputs, need_unbiased, number, wholes};
use crate::json::Json;
use crate::whole::{exponential_below, parts_of, unit_of, Sum, Whole};
use crate::{need, Refused};
use optldp_drawing::{Law, Parts, Rows, Table, DENOMINATOR};

const MOST_EDGE: u64 = 1 << 62;
const WHOLE: i64 = DENOMINATOR as i64;
const KEYS: [&str; 12] = [
    "format",
    "kind",
    "units",
    "epsilon",
    "ratio",
    "knots",
    "step",
    "places",
    "floor",
    "starts",
    "provenance",
    "prior",
];

pub fn read(document: &Json, identifier: String) -> Result<Table, Refused> {
    let [_, _, _, _, ratio, _, step, places, floor, starts, _, _] = members(document, KEYS)?;
    let around = around::read(document)?;
    let beyond = beyond_one(ratio, around.epsilon)?;
    let step = number(step)?;
    let power = step > 0.0 && parts_of(step).0.is_power_of_two();
    let in_range = (2f64.powi(-1000)..=2f64.powi(400)).contains(&step);
    need(power && in_range, "step must be a power of two from 2^-1000 to 2^400")?;
    let places = wholes(places, -WHOLE, WHOLE)?;
    let floor = wholes(floor, 1, WHOLE)?;
    let starts = wholes(starts, 0, MOST_EDGE as i64)?;
    need(floor.len() == places.len(), "outputs must have a floor each")?;
    need(starts.len() == around.knots.len(), "knots must have a start each")?;
    let reports: Box<[f64]> = places.iter().map(|place| *place as f64 * step + 0.0).collect();
    need_outputs(&reports, &reports)?;
    let line = Line::of(&floor, &starts, &beyond)?;
    if around.unbiased {
        line.prove_unbiased(&around.knots, &places, &floor, step)?;
    }
    Ok(Table::from_proved(Parts {
        epsilon: around.epsilon,
        units: around.units,
        identifier,
        knots: around.knots.into(),
        low: reports.clone(),
        high: reports.clone(),
        top: reports,
        rows: Rows::Windows {
            floors: line.floors.into(),
            edges: line.edges.into(),
            starts: line.starts.into(),
            width: line.width,
        },
        law: Law::Uniform { hidden: [].into(), refuges: [].into() },
    }))
}

/// A ratio, a whole number of at most 49 digits over 2^128: above one, and proved at most e^epsilon; less one.
fn beyond_one(ratio: &Json, epsilon: f64) -> Result<Whole, Refused> {
    const DIGITS: Refused = Refused("ratio must be the digits of a whole number");
    let Json::Text(digits) = ratio else {
        return Err(DIGITS);
    };
    let written = (1..=49).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    need(written && !digits.starts_with('0'), DIGITS.0)?;
    let mut number = Whole::default();
    for digit in digits.bytes() {
        number = number.times(10);
        number.add_times(&Whole::of(1), u64::from(digit - b'0'));
    }
    let one = Whole::of(1).up(128);
    let fits = number > one && number <= exponential_below(epsilon);
    need(fits, "the ratio must be proved at most e^epsilon, and above 1")?;
    Ok(number.apart(&one))
}

/// The line on which outputs have their extras side by side, and the windows of rows on it.
struct Line {
    floors: Vec<u64>,
    edges: Vec<u64>,
    starts: Vec<u64>,
    width: u64,
}

impl Line {
    fn of(floor: &[i64], starts: &[i64], beyond: &Whole) -> Result<Line, Refused> {
        let (mut sum, mut edge, mut floors, mut edges) = (0, 0, Vec::new(), Vec::new());
        for each in floor {
            let each = *each as u64; // at least 1
            let extra = beyond.times(each).down(128).value().and_then(|extra| u64::try_from(extra).ok());
            let room = extra.filter(|extra| *extra <= MOST_EDGE - edge);
            edge += room.ok_or(Refused("the floor times the ratio must be at most 2^62"))?;
            need(each <= DENOMINATOR - sum, "floors must sum to at most 2^53")?;
            sum += each;
            floors.push(sum);
            edges.push(edge);
        }
        let width = DENOMINATOR - sum;
        need(width <= edge, "extras must fill a window")?;
        let starts: Vec<u64> = starts.iter().map(|start| *start as u64).collect(); // at least 0
        for start in &starts {
            need(*start <= edge - width, "starts must leave room for a window")?;
            need(*start as f64 as u64 == *start, "starts must be doubles")?;
        }
        Ok(Line { floors, edges, starts, width })
    }

    /// The sum of places over the line up to a point of it: at most 2^62 times 2^53.
    fn moment_until(&self, point: u64, places: &[i64], moments: &[i128]) -> i128 {
        let j = self.edges.partition_point(|edge| *edge <= point).min(places.len() - 1);
        let (begin, before) = if j > 0 { (self.edges[j - 1], moments[j - 1]) } else { (0, 0) };
        before + i128::from(point - begin) * i128::from(places[j])
    }

    fn prove_unbiased(&self, knots: &[f64], places: &[i64], floor: &[i64], step: f64) -> Result<(), Refused> {
        let (mut base, mut moment, mut edge, mut moments) = (0i128, 0i128, 0, Vec::new());
        for ((place, floor), until) in places.iter().zip(floor).zip(&self.edges) {
            base += i128::from(*place) * i128::from(*floor);
            moment += i128::from(*place) * i128::from(until - edge);
            edge = *until;
            moments.push(moment);
        }
        let unit = unit_of(knots.iter().chain([&step]));
        let in_steps = |number: u128| {
            let mut sum = Sum::default();
            sum.add_double(step, false, unit, 0);
            Whole::of(number).up(sum.size().bits() - 1) // a step is a power of two
        };
        let mut width = Sum::default();
        width.add_double(knots[knots.len() - 1], false, unit, 53);
        width.add_double(knots[0], true, unit, 53);
        let width = width.size();
        let farthest = in_steps(places.iter().map(|place| u128::from(place.unsigned_abs())).max().unwrap_or(0));
        for (knot, start) in knots.iter().zip(&self.starts) {
            let until = |point| self.moment_until(point, places, &moments);
            let total = base + until(start + self.width) - until(*start);
            let mut off = Sum::default();
            off.add(&in_steps(total.unsigned_abs()), total < 0, 1);
            off.add_double(*knot, true, unit, 53);
            need_unbiased(&off.size(), &width, &farthest)?;
        }
        Ok(())
    }
}
