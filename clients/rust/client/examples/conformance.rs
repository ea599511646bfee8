//! Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance rust`.

use optldp_client::{read_table, NoRandomness, Refused, Stopped, Table, Words};
use std::io::{BufRead, Write};

#[allow(dead_code, reason = "the client's own reader, of which lines take a part")]
#[path = "../src/json.rs"]
mod json;
use json::Json;

fn need(condition: bool, message: &'static str) -> Result<(), Refused> {
    condition.then_some(()).ok_or(Refused(message))
}

/// The words that are given, in place of the platform's; beyond them 0, and of none at all nothing.
struct Given(Vec<u64>);

impl Words for Given {
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness> {
        for (i, word) in words.iter_mut().enumerate() {
            *word = self.0.get(i).copied().unwrap_or(0);
        }
        if self.0.is_empty() {
            Err(NoRandomness)
        } else {
            Ok(())
        }
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

fn answer_draws(table: &Table, draws: &[Json]) -> String {
    let mut reports = Vec::new();
    for draw in draws {
        let words = items(draw.member("words")).iter().map(word).collect();
        let Some(Json::Number(value, _)) = draw.member("value") else {
            return r#"{"skipped": "a value that is no number"}"#.into();
        };
        match table.report(*value, &mut Given(words)) {
            Ok(report) => reports.push(format!("{report:?}")),
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
    let table = match read_table(document) {
        Ok(table) => table,
        Err(Refused(reason)) => {
            return format!(r#"{{"accepted": false, "reason": "{}"}}"#, reason.replace('"', "\\\""));
        }
    };
    match asked.member("do") {
        Some(task) if task.is("read") => r#"{"accepted": true}"#.into(),
        Some(task) if task.is("draw") => answer_draws(&table, items(asked.member("draws"))),
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
