//! Reads what optldp designed, proves it private, and draws reports by `optldp_drawing`: a table of numbers, its floor
//! form, a mechanism for categories, pairs of a key and a number, several numbers, or any of these at levels of privacy;
//! and a user's reports over time, by a state that draws nothing twice.
//!
//! ```no_run
//! let table = optldp_client::read_table(&std::fs::read_to_string("table.json")?)?;
//! let report = table.report(31500.0, &mut optldp_client::Platform)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod around;
mod categories;
mod combined;
mod exact_table;
mod floor_form;
mod json;
mod kept;
mod normal_form;
mod over_time;
mod platform;
mod row;
mod sha256;
mod unicode;
mod way_proving;
mod whole;
mod whole_life;

pub use around::read_table;
pub use categories::read_categories;
pub use combined::read_mechanism;
pub use optldp_drawing::{Categories, Mechanism, NoRandomness, Report, Stopped, Table, Value, Words};
pub use over_time::{FilePlace, Place, Unsent, Way};
pub use platform::Platform;
pub use row::{row, Row};
pub use way_proving::read_way;

/// A file that cannot be used, and why: one line, of its first fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub &'static str);

impl std::fmt::Display for Refused {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.0)
    }
}

impl std::error::Error for Refused {}

/// Refuses the file unless the condition holds.
pub(crate) fn need(condition: bool, message: &'static str) -> Result<(), Refused> {
    if condition {
        Ok(())
    } else {
        Err(Refused(message))
    }
}
