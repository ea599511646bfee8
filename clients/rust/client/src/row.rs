//! A report as it is collected (docs/report-format.md): no more of when it was made than a day.

use optldp_drawing::{NoRandomness, Stopped, Table, Words};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_OF_A_DAY: u64 = 86_400;

/// A row to send; `to_string` writes it as JSON. One that is sent again must be the same row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The table's name in files of reports.
    pub table: String,
    /// The number of the output.
    pub output: usize,
    /// In UTC, such as `2026-05-01`.
    pub day: String,
    /// Fresh randomness that says nothing of user or value.
    pub report_id: String,
}

impl fmt::Display for Row {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { table, output, day, report_id } = self; // none has characters that JSON escapes
        write!(to, r#"{{"table": "{table}", "output": {output}, "day": "{day}", "report_id": "{report_id}"}}"#)
    }
}

/// Draws an output as a row of today. Each draw of a value spends epsilon again.
///
/// # Errors
///
/// The value is none of the table's domain, or the generator fails.
pub fn row(table: &Table, value: f64, generator: &mut impl Words) -> Result<Row, Stopped> {
    let output = table.index(value, generator)?;
    let mut id = [0; 2];
    generator.fill(&mut id).map_err(|NoRandomness| Stopped::NoRandomness)?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let report_id = format!("{:016x}{:016x}", id[0], id[1]);
    Ok(Row { table: table.identifier().into(), output, day: day_of(seconds / SECONDS_OF_A_DAY), report_id })
}

/// The date of a number of days since 1970, in eras of 400 years that begin in March.
fn day_of(days: u64) -> String {
    let (era, of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::day_of;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 58, 59, 789, 11_016, 20_574, 47_540].map(day_of);
        let known = ["1970-01-01", "1970-02-28", "1970-03-01", "1972-02-29", "2000-02-29", "2026-05-01", "2100-02-28"];
        assert_eq!(days, known);
    }
}
