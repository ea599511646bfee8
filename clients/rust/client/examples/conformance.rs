//! Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance rust`.

use optldp_client::{
    read_mechanism, read_way, Mechanism, NoRandomness, Place, Refused, Stopped, Unsent, Value, Way, Words,
};
use std::io::{self, BufRead, Write};

#[allow(dead_code, reason = "the client's own reader, of which lines take a part")]
#[path = "../src/json.rs"]
mod json;
use json::Json;

fn need(condition: bool, message: &'static str) -> Result<(), Refused> {
    condition.then_some(()).ok_or(Refused(message))
}

/// The words that are given, in place of the platform's; beyond them 0, and of none at all nothing.
struct Given {
    words: Vec<u64>,
    next: usize,
}

impl Words for Given {
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness> {
        for word in words {
            *word = self.words.get(self.next).copied().unwrap_or(0);
            self.next += 1;
        }
        if self.words.is_empty() {
            Err(NoRandomness)
        } else {
            Ok(())
        }
    }
}

/// The numbers of a list.
fn numbers(list: &[Json]) -> Result<Vec<f64>, Stopped> {
    let number = |each: &Json| if let Json::Number(number, _) = each { Ok(*number) } else { Err(Stopped::NoValue) };
    list.iter().map(number).collect()
}

/// Hands on a value as it stands in a vector; `sort` is a mechanism that takes such values.
fn with_value<T>(
    sort: &Mechanism,
    value: &Json,
    take: impl FnOnce(&Value) -> Result<T, Stopped>,
) -> Result<T, Stopped> {
    match (sort, value) {
        (Mechanism::Levels(levels), Json::List(list)) => match &list[..] {
            [inner, Json::Number(_, Some(level))] => {
                let level = usize::try_from(*level).map_err(|_| Stopped::NoValue)?;
                with_value_of_level(&levels.levels[0], inner, |inner| take(&Value::AtLevel(inner, level)))
            }
            _ => Err(Stopped::NoValue),
        },
        _ => with_value_of_level(sort, value, take),
    }
}

fn with_value_of_level<T>(
    sort: &Mechanism,
    value: &Json,
    take: impl FnOnce(&Value) -> Result<T, Stopped>,
) -> Result<T, Stopped> {
    match (sort, value) {
        (_, Json::Number(number, _)) => take(&Value::Number(*number)),
        (_, Json::Text(name)) => take(&Value::Name(name)),
        (Mechanism::Attributes(_), Json::List(list)) => take(&Value::Numbers(&numbers(list)?)),
        (_, Json::List(list)) => take(&Value::Pairs(&list.iter().map(pair).collect::<Result<Vec<_>, _>>()?)),
        _ => Err(Stopped::NoValue),
    }
}

fn pair(value: &Json) -> Result<(&str, f64), Stopped> {
    match items(Some(value)) {
        [Json::Text(key), Json::Number(number, _)] => Ok((key, *number)),
        _ => Err(Stopped::NoValue),
    }
}

/// Draws a report, as JSON.
fn report(mechanism: &Mechanism, value: Option<&Json>, mut given: Given) -> Result<String, Stopped> {
    let value = value.unwrap_or(&Json::Null);
    if let (Mechanism::Numbers(table), Json::Number(number, _)) = (mechanism, value) {
        return table.report(*number, &mut given).map(|report| format!("{report:?}"));
    }
    let cells = with_value(mechanism, value, |value| mechanism.report(value, &mut given))?;
    Ok(format!("\"{}\"", cells.join(",")))
}

fn items(value: Option<&Json>) -> &[Json] {
    match value {
        Some(Json::List(list)) => list,
        _ => &[],
    }
}

fn word(written: &Json) -> u64 {
    match written {
        Json::Text(digits) => u64::from_str_radix(digits, 16).expect("words are of 64 bits, in hexadecimal"),
        _ => panic!("words are texts"),
    }
}

fn answer_draws(mechanism: &Mechanism, draws: &[Json]) -> String {
    let mut reports = Vec::new();
    for draw in draws {
        let words = items(draw.member("words")).iter().map(word).collect();
        match report(mechanism, draw.member("value"), Given { words, next: 0 }) {
            Ok(report) => reports.push(report),
            Err(Stopped::NoRandomness) => return r#"{"stopped": true}"#.into(),
            Err(stopped) => return format!(r#"{{"skipped": "{stopped}"}}"#),
        }
    }
    format!(r#"{{"reports": [{}]}}"#, reports.join(", "))
}

/// A text of a device; it may be told to stop when that is written.
struct Memory {
    text: Option<String>,
    begins: bool, // whether there may be a first text in spite of that, as of a mark of nothing
    crashes: bool,
}

impl Place for Memory {
    fn read(&mut self) -> io::Result<Option<String>> {
        Ok(self.text.clone())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if self.crashes && !(self.begins && self.text.is_none()) {
            return Err(io::ErrorKind::Other.into());
        }
        self.text = Some(text.into());
        Ok(())
    }
}

/// Reports in periods, with a state that is kept, put back, lost, or not written.
fn live(way: &Way, user: &str, steps: &[Json]) -> String {
    let mut state = Memory { text: None, begins: false, crashes: false };
    let mut mark = Memory { text: None, begins: true, crashes: false };
    let (mut kept, mut answers) = (None, Vec::new());
    for step in steps {
        let says = |key: &str, text: &str| step.member(key).is_some_and(|value| value.is(text));
        if says("first", "keep") {
            kept = state.text.clone();
        } else if says("first", "restore") || says("first", "lose") {
            state.text = if says("first", "restore") { kept.clone() } else { None };
        }
        (state.crashes, mark.crashes) = (says("crash", "state"), says("crash", "mark"));
        let mut given = Given { words: items(step.member("words")).iter().map(word).collect(), next: 0 };
        let value = match step.member("value") {
            Some(Json::Number(number, _)) => Value::Number(*number),
            Some(Json::Text(name)) => Value::Name(name),
            _ => return r#"{"skipped": "a value unknown to this client"}"#.into(),
        };
        let Some(Json::Number(_, Some(period))) = step.member("period") else {
            return r#"{"skipped": "a step without a period"}"#.into();
        };
        let other = match step.member("document") {
            Some(Json::Text(document)) => read_way(document).ok(),
            _ => None,
        };
        let user = match step.member("user") {
            Some(Json::Text(other)) => other,
            _ => user,
        };
        let asked = other.as_ref().unwrap_or(way);
        answers.push(match asked.report(user, *period as u64, &value, &mut state, &mut mark, &mut given) {
            Ok(_) if says("crash", "report") => r#"{"crashed": true}"#.into(),
            Ok(None) => r#"{"sent": null}"#.into(),
            Ok(Some(sent)) => format!(r#"{{"sent": "{sent}"}}"#),
            Err(Unsent::Place(_)) => r#"{"crashed": true}"#.into(),
            Err(Unsent::Stopped(Stopped::NoRandomness)) => r#"{"stopped": true}"#.into(),
            Err(Unsent::State) => r#"{"refused": true}"#.into(),
            Err(other) => format!(r#"{{"skipped": "{other}"}}"#),
        });
    }
    format!(r#"{{"answers": [{}]}}"#, answers.join(", "))
}

/// Whether a document is, or says that it is, of a way over time.
fn is_over_time(document: &str) -> bool {
    let file = Json::parse(document).unwrap_or(Json::Null);
    file.member("kind").is_some_and(|kind| ["panel", "memoised", "rows", "tree"].iter().any(|way| kind.is(way)))
}

fn refusal(reason: &str) -> String {
    format!(r#"{{"accepted": false, "reason": "{}"}}"#, reason.replace('"', "\\\""))
}

fn answer_over_time(asked: &Json, document: &str) -> String {
    match (read_way(document), asked.member("do"), asked.member("user")) {
        (Err(Refused(reason)), _, _) => refusal(reason),
        (Ok(_), Some(task), _) if task.is("read") => r#"{"accepted": true}"#.into(),
        (Ok(way), Some(task), Some(Json::Text(user))) if task.is("live") => {
            live(&way, user, items(asked.member("steps")))
        }
        _ => r#"{"skipped": "a task unknown to this client"}"#.into(),
    }
}

fn answer(line: &str) -> String {
    let asked = Json::parse(line).unwrap_or(Json::Null);
    let Some(Json::Text(document)) = asked.member("document") else {
        return r#"{"skipped": "a line that this client cannot read"}"#.into();
    };
    if is_over_time(document) {
        return answer_over_time(&asked, document);
    }
    let mechanism = match read_mechanism(document) {
        Ok(mechanism) => mechanism,
        Err(Refused(reason)) => return refusal(reason),
    };
    match asked.member("do") {
        Some(task) if task.is("read") => r#"{"accepted": true}"#.into(),
        Some(task) if task.is("draw") => answer_draws(&mechanism, items(asked.member("draws"))),
        _ => r#"{"skipped": "a task unknown to this client"}"#.into(),
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?))?;
    }
    Ok(())
}
