//! What has several parts (docs/bundle-format.md), and the proof of pairs: attributes and levels are proved part by part.

use crate::around::{checked_epsilon, checked_provenance, list, members, number, text, unsealed, whole};
use crate::categories::{self, labels, prove_ratio, share};
use crate::exact_table::{self, need_denominator, proved_sums};
use crate::floor_form;
use crate::json::{need_modest, Json};
use crate::whole::{exponential_below, Sum, Whole};
use crate::{need, Refused};
use optldp_drawing::{sets, Attributes, Categories, Levels, Mechanism, Oracle, Pairs, Rows, Table, DENOMINATOR};
use std::collections::BTreeSet;

const MOST_OUTPUTS: usize = (1 << 15) - 2; // of the values of pairs
const MOST_PADDING: i64 = 1 << 20;
const MOST_ATTRIBUTES: usize = 256;
const MOST_LEVELS: usize = 256;
const MOST_LEVEL_REPORTS: u64 = 4096;
const MOST_COUNTED: usize = 1 << 25;

/// Reads the text of a file, any mechanism that this client has, and proves it private.
///
/// # Errors
///
/// The text is no such file, was altered, or is not proved to keep its epsilon.
///
/// ```
/// assert!(optldp_client::read_mechanism("{}").is_err());
/// ```
pub fn read_mechanism(document: &str) -> Result<Mechanism, Refused> {
    need_modest(document.as_bytes())?;
    let file = Json::parse(document)?;
    need(matches!(file, Json::Object(_)), "the file must be an object")?;
    let (content, identifier) = unsealed(&file)?;
    if kind_of(&content) == "floor" {
        return floor_form::read(&content, identifier).map(Mechanism::Numbers);
    }
    read(&content, identifier)
}

/// A mechanism that is a file, or stands in one; floor forms stand in none.
fn read(document: &Json, identifier: String) -> Result<Mechanism, Refused> {
    match kind_of(document) {
        "number" => exact_table::read(document, identifier).map(Mechanism::Numbers),
        "attributes" => attributes(document).map(Mechanism::Attributes),
        "key-value-unary" => pairs(document, true).map(Mechanism::Pairs),
        "key-value-response" => pairs(document, false).map(Mechanism::Pairs),
        "personalised" | "personalised-pairs" | "personalised-attributes" => levels(document).map(Mechanism::Levels),
        _ => categories::read(document, identifier).map(Mechanism::Names),
    }
}

/// The kind of a bundle, "number" of a table, and nothing of what is neither.
fn kind_of(document: &Json) -> &str {
    let says = |text: &str| document.member("format").is_some_and(|value| value.is(text));
    match document.member("kind") {
        Some(Json::Text(kind)) if says("optldp-bundle/1") => kind,
        _ if says("optldp-table/2") => "number",
        _ => "",
    }
}

fn table(document: &Json) -> Result<Table, Refused> {
    need(kind_of(document) == "number", "a table inside a file must have the format \"optldp-table/2\"")?;
    exact_table::read(document, String::new())
}

fn attributes(document: &Json) -> Result<Attributes, Refused> {
    let keys = ["format", "kind", "attributes", "mechanisms", "sampled", "epsilon"];
    let [_, _, names, tables, sampled, epsilon] = members(document, keys)?;
    let names: Vec<&str> = list(names)?.iter().map(text).collect::<Result<_, _>>()?;
    need((1..=MOST_ATTRIBUTES).contains(&names.len()), "attributes must be 1 to 256")?;
    let different: BTreeSet<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    need(different.len() == names.len(), "attributes must have names that differ")?;
    let tables: Vec<Table> = list(tables)?.iter().map(table).collect::<Result<_, _>>()?;
    need(names.len() == tables.len(), "every attribute needs a name and one table")?;
    let epsilon = checked_epsilon(epsilon)?;
    let sampled = whole(sampled, 1, names.len() as i64)? as usize;
    let mut spent: Vec<f64> = tables.iter().map(Table::epsilon).collect();
    spent.sort_by(|a, b| b.total_cmp(a));
    need_sum(spent[..sampled].iter().copied(), epsilon)?;
    let names = names.into_iter().map(str::to_owned).collect();
    Ok(Attributes { epsilon, names, tables: tables.into(), sampled })
}

/// Whether budgets sum to at most another, exactly: all are whole numbers of 2^-80.
fn need_sum(spent: impl Iterator<Item = f64>, epsilon: f64) -> Result<(), Refused> {
    let mut left = Sum::default();
    left.add_double(epsilon, false, -80, 0);
    spent.for_each(|each| left.add_double(each, true, -80, 0));
    need(!left.is_negative(), "the epsilons of any attributes that are sampled must sum to at most epsilon")
}

fn pairs(document: &Json, apart: bool) -> Result<Pairs, Refused> {
    let keys =
        ["format", "kind", "keys", "epsilon", "provenance", "value", "padding", "denominator", "fake", "own", "other"];
    let [_, _, keys, epsilon, provenance, value, padding, denominator, fake, own, other] = members(document, keys)?;
    let (keys, value) = (labels(keys)?, table(value)?);
    need_denominator(denominator)?;
    checked_provenance(provenance)?;
    let (epsilon, many) = (checked_epsilon(epsilon)?, value.outputs());
    need(many <= MOST_OUTPUTS, "the value table must have at most 32766 outputs")?;
    need(keys.len() * many <= MOST_COUNTED, "keys times outputs must be at most 2^25")?;
    let padding = whole(padding, 0, MOST_PADDING)? as usize;
    let fakes = proved_sums(list(fake)?, 1, many, epsilon)?;
    let (own, other) = (share(own)?, share(other)?);
    need(other < own, "other must be below own")?;
    let others = (keys.len() + padding - 1) as u128 * u128::from(other);
    let equal = u128::from(own) + others == u128::from(DENOMINATOR);
    need(apart || equal, "own must leave equal shares of 2^53 to the others")?;
    let pairs = Pairs { epsilon, keys: keys.into(), value, padding, apart, own, other, fakes: fakes.into() };
    prove(&pairs)?;
    Ok(pairs)
}

/// A fraction of whole numbers, the lower one above 0.
type Fraction = (Whole, Whole);

fn is_less(one: &Fraction, than: &Fraction) -> bool {
    one.0.product(&than.1) < than.0.product(&one.1)
}

fn larger(one: Fraction, two: Fraction) -> Fraction {
    if is_less(&one, &two) {
        two
    } else {
        one
    }
}

fn smaller(one: Fraction, two: Fraction) -> Fraction {
    if is_less(&two, &one) {
        two
    } else {
        one
    }
}

fn prove(pairs: &Pairs) -> Result<(), Refused> {
    let own_or_other = |number: u64, share: u64| Whole::of(u128::from(number)).times(share);
    let prove = |most: &Fraction, least: &Fraction| {
        prove_ratio(&most.0.product(&least.1), &most.1.product(&least.0), pairs.epsilon)
    };
    let held = pairs.padding.max(1) as u64;
    let sampled = DENOMINATOR.div_ceil(held); // of 2^53: how likely a pair is sampled at most
    let one = || (Whole::of(1), Whole::of(1));
    let mut extremes: Option<(Fraction, Fraction)> = None;
    for (fake, (least, most)) in fakes(pairs).into_iter().zip(ranges(&pairs.value)) {
        if fake == 0 {
            need(most == 0, "an output that the value table has must be among the fake ones")?;
            continue;
        }
        let below = own_or_other(fake, pairs.other);
        let (most, least) = (own_or_other(most, pairs.own), own_or_other(least, pairs.own));
        if pairs.apart {
            let (before, after) = extremes.take().unwrap_or_else(|| {
                let hidden =
                    (Whole::of((DENOMINATOR - pairs.own).into()), Whole::of((DENOMINATOR - pairs.other).into()));
                ((Whole::default(), Whole::of(1)), hidden)
            });
            extremes = Some((larger(before, (most, below.clone())), smaller(after, (least, below))));
            continue;
        }
        let mixed = |above: &Whole| {
            let mut sum = above.times(sampled);
            sum.add_times(&below, DENOMINATOR - sampled);
            (sum, below.times(DENOMINATOR))
        };
        prove(&larger(one(), mixed(&most)), &smaller(one(), mixed(&least)))?;
    }
    extremes.map_or(Ok(()), |(most, least)| prove(&most, &least))
}

/// How often each output stands at places that are not the user's.
fn fakes(pairs: &Pairs) -> Vec<u64> {
    let mut before = 0;
    pairs.fakes.iter().map(|sum| sum - std::mem::replace(&mut before, *sum)).collect()
}

/// The least and the largest numerator of each output.
fn ranges(table: &Table) -> Vec<(u64, u64)> {
    let mut ranges = vec![(u64::MAX, 0); table.outputs()];
    if let Rows::Sums(sums) = &table.parts().rows {
        for row in sums.chunks_exact(table.outputs()) {
            let mut before = 0;
            for (range, sum) in ranges.iter_mut().zip(row) {
                let each = sum - std::mem::replace(&mut before, *sum);
                *range = (range.0.min(each), range.1.max(each));
            }
        }
    }
    ranges
}

fn levels(document: &Json) -> Result<Levels, Refused> {
    let protocol = document.member("level_mechanism");
    let (own, level_epsilon) = match protocol {
        Some(_) => {
            let keys = ["format", "kind", "levels", "level_epsilon", "level_mechanism"];
            let [_, _, own, level_epsilon, _] = members(document, keys)?;
            (own, level_epsilon)
        }
        None => {
            let [_, _, own, level_epsilon] = members(document, ["format", "kind", "levels", "level_epsilon"])?;
            (own, level_epsilon)
        }
    };
    let own = list(own)?;
    need((2..=MOST_LEVELS).contains(&own.len()), "there must be 2 to 256 levels")?;
    let levels: Vec<Mechanism> = own.iter().map(|each| level(kind_of(document), each)).collect::<Result<_, _>>()?;
    for pair in levels.windows(2) {
        need(are_alike(&pair[0], &pair[1]), "levels must match, got others at one")?;
        let rises = budgets(&pair[0]).iter().zip(budgets(&pair[1])).all(|(before, now)| *before < now);
        need(rises, "levels must have rising budgets")?;
    }
    let protocol = level_protocol(protocol, level_epsilon, levels.len())?;
    let places = match &levels[0] {
        Mechanism::Numbers(_) | Mechanism::Attributes(_) => levels.iter().map(counted).sum(),
        same => counted(same),
    };
    let reports = protocol.as_ref().map_or(levels.len(), |protocol| reports_of(protocol) as usize);
    need(reports * places <= MOST_COUNTED, "reports of levels times what is counted beside each must be at most 2^25")?;
    Ok(Levels { levels: levels.into(), protocol })
}

fn level(kind: &str, document: &Json) -> Result<Mechanism, Refused> {
    const SORT: Refused = Refused("levels must be of the sort that their kind has");
    let own = kind_of(document);
    let fits = match kind {
        "personalised-pairs" => own.starts_with("key-value-"),
        "personalised-attributes" => own == "attributes",
        _ => !own.starts_with("personalised") && !own.starts_with("key-value-") && own != "attributes",
    };
    need(fits, SORT.0)?;
    let level = read(document, String::new())?;
    let hides = matches!(&level, Mechanism::Attributes(own) if own.names.iter().any(|name| name == "level"));
    need(!hides, "an attribute must not be named \"level\"")?;
    Ok(level)
}

/// The budgets that must rise from level to level: the whole one and, of attributes, each one's.
fn budgets(level: &Mechanism) -> Vec<f64> {
    let mut budgets = vec![level.epsilon()];
    if let Mechanism::Attributes(own) = level {
        budgets.extend(own.tables.iter().map(Table::epsilon));
    }
    budgets
}

/// What is counted of values: categories, outputs, those of keys.
fn counted(level: &Mechanism) -> usize {
    match level {
        Mechanism::Numbers(table) => table.outputs(),
        Mechanism::Names(names) => names.labels().len(),
        Mechanism::Pairs(pairs) => pairs.keys.len() * (1 + pairs.value.outputs()),
        Mechanism::Attributes(own) => own.tables.iter().map(Table::outputs).sum(),
        Mechanism::Levels(_) => 0,
    }
}

fn are_alike(one: &Mechanism, two: &Mechanism) -> bool {
    match (one, two) {
        (Mechanism::Numbers(one), Mechanism::Numbers(two)) => are_alike_tables(one, two),
        (Mechanism::Names(one), Mechanism::Names(two)) => {
            let same = match (one.oracle(), two.oracle()) {
                (Oracle::Table { outputs: one, .. }, Oracle::Table { outputs: two, .. }) => one == two,
                (Oracle::Unary { .. }, Oracle::Unary { .. }) => true,
                (Oracle::Subset { chosen: one, .. }, Oracle::Subset { chosen: two, .. }) => one == two,
                (Oracle::Hash { field: one, .. }, Oracle::Hash { field: two, .. })
                | (Oracle::Geometry { field: one, .. }, Oracle::Geometry { field: two, .. }) => {
                    one.size() == two.size()
                }
                _ => false,
            };
            same && one.labels() == two.labels()
        }
        (Mechanism::Pairs(one), Mechanism::Pairs(two)) => {
            let possible = |pairs: &Pairs| fakes(pairs).into_iter().map(|fake| fake > 0).collect::<Vec<_>>();
            let same = one.apart == two.apart && one.padding == two.padding && one.keys == two.keys;
            let (own, other) = (one.value.parts(), two.value.parts());
            same && own.units == other.units && own.knots == other.knots && possible(one) == possible(two)
        }
        (Mechanism::Attributes(one), Mechanism::Attributes(two)) => {
            let same = one.names == two.names && one.sampled == two.sampled;
            same && one.tables.iter().zip(&two.tables).all(|(one, two)| are_alike_tables(one, two))
        }
        _ => false,
    }
}

fn are_alike_tables(one: &Table, two: &Table) -> bool {
    one.domain() == two.domain() && one.units() == two.units()
}

/// How the level of so many is reported; none: in the clear.
fn level_protocol(protocol: Option<&Json>, epsilon: &Json, many: usize) -> Result<Option<Categories>, Refused> {
    let Some(document) = protocol else {
        return match epsilon {
            Json::Null => Ok(None),
            _ => randomised_response(many, checked_epsilon(epsilon)?).map(Some),
        };
    };
    let protocol = categories::read(document, String::new())?;
    let told = protocol.epsilon() == number(epsilon)? && protocol.labels().len() == many;
    need(told, "level_mechanism must have a category for each level and the budget level_epsilon")?;
    need(reports_of(&protocol) <= MOST_LEVEL_REPORTS, "there must be at most 4096 reports of a level")?;
    Ok(Some(protocol))
}

/// How many reports there are; of very many, some number above 2^32.
fn reports_of(protocol: &Categories) -> u64 {
    let size = protocol.labels().len();
    match protocol.oracle() {
        Oracle::Table { outputs, .. } => *outputs as u64,
        Oracle::Unary { .. } => 1 << size.min(33),
        Oracle::Subset { chosen, .. } => sets(size, *chosen),
        Oracle::Hash { field, digits, .. } => field.points(*digits) * field.size(),
        Oracle::Geometry { field, length, .. } => field.points(*length),
    }
}

/// Randomised response among so many levels.
fn randomised_response(many: usize, epsilon: f64) -> Result<Categories, Refused> {
    let others = many as u64 - 1;
    let mut divisor = exponential_below(epsilon);
    divisor.add_times(&Whole::of(1).up(128), others);
    let least = Whole::of(1).up(128 + 53);
    let (mut below, mut other) = (0, DENOMINATOR); // the other share is the least that fills, rounded up
    while other - below > 1 {
        let middle = below.midpoint(other);
        if divisor.times(middle) >= least {
            other = middle;
        } else {
            below = middle;
        }
    }
    let own = DENOMINATOR - others * other;
    prove_ratio(&Whole::of(own.into()), &Whole::of(other.into()), epsilon)?;
    let sums =
        (0..many).flat_map(|code| (1..=many).map(move |j| j as u64 * other + if code < j { own - other } else { 0 }));
    let names = (0..many).map(|level| level.to_string()).collect();
    let oracle = Oracle::Table { sums: sums.collect(), outputs: many };
    Ok(Categories::from_proved(epsilon, String::new(), names, oracle))
}
