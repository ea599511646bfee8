//! Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance rust`.

use optldp_client::{read_categories, read_table, Categories, NoRandomness, Refused, Stopped, Table, Words};
use std::io::{BufRead, Write};

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

/// What a document may hold.
enum Mechanism {
    Numbers(Table),
    Names(Categories),
}

/// Reads a file of either sort: bundles but the floor form are categories'.
fn read(document: &str) -> Result<Mechanism, Refused> {
    let file = Json::parse(document).unwrap_or(Json::Null);
    let says = |key: &str, text: &str| file.member(key).is_some_and(|value| value.is(text));
    if says("format", "optldp-bundle/1") && !says("kind", "floor") {
        return read_categories(document).map(Mechanism::Names);
    }
    read_table(document).map(Mechanism::Numbers)
}

/// Draws a report, as JSON.
fn report(mechanism: &Mechanism, value: Option<&Json>, mut given: Given) -> Result<String, Stopped> {
    match (mechanism, value) {
        (Mechanism::Numbers(table), Some(Json::Number(value, _))) => {
            table.report(*value, &mut given).map(|report| format!("{report:?}"))
        }
        (Mechanism::Names(names), Some(Json::Text(value))) => {
            names.report(value, &mut given).map(|report| format!("\"{report}\""))
        }
        (Mechanism::Numbers(_), _) => Err(Stopped::NotInDomain),
        (Mechanism::Names(_), _) => Err(Stopped::NoCategory),
    }
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

fn answer(line: &str) -> String {
    let asked = Json::parse(line).unwrap_or(Json::Null);
    let Some(Json::Text(document)) = asked.member("document") else {
        return r#"{"skipped": "a line that this client cannot read"}"#.into();
    };
    let mechanism = match read(document) {
        Ok(mechanism) => mechanism,
        Err(Refused(reason)) => {
            return format!(r#"{{"accepted": false, "reason": "{}"}}"#, reason.replace('"', "\\\""));
        }
    };
    match asked.member("do") {
        Some(task) if task.is("read") => r#"{"accepted": true}"#.into(),
        Some(task) if task.is("draw") => answer_draws(&mechanism, items(asked.member("draws"))),
        _ => r#"{"skipped": "a task unknown to this client"}"#.into(),
    }
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?))?;
    }
    Ok(())
}
