//! What stops a draw, and what a draw says.

use optldp_drawing::{Law, NoRandomness, Parts, Rows, Stopped, Table, Words};

const HALF: u64 = 1 << 52;

/// Two knots at 0 and 1, two points; the first row gives only the first one, so that words show in outputs.
fn table() -> Table {
    Table::from_proved(Parts {
        epsilon: 1.0,
        units: "hours".into(),
        identifier: "t0".into(),
        knots: [0.0, 1.0].into(),
        low: [-1.0, 2.0].into(),
        high: [-1.0, 2.0].into(),
        top: [-1.0, 2.0].into(),
        rows: Rows::Sums([2 * HALF, 2 * HALF, HALF, 2 * HALF].into()),
        law: Law::Uniform { hidden: [].into(), refuges: [].into() },
    })
}

/// Gives words, and fails where it has too few: after it has filled some.
struct RunsDry(Vec<u64>);

impl Words for RunsDry {
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness> {
        for word in words {
            *word = self.0.pop().ok_or(NoRandomness)?;
        }
        Ok(())
    }
}

#[test]
fn a_generator_that_fails_or_runs_dry_stops_the_draw() {
    for many in 0..3 {
        assert_eq!(table().report(0.5, &mut RunsDry(vec![1; many])), Err(Stopped::NoRandomness));
    }
    assert_eq!(table().index(0.5, &mut RunsDry(vec![1])), Err(Stopped::NoRandomness));
    assert_eq!(table().report(0.5, &mut RunsDry(vec![1; 3])), Ok(-1.0));
}

#[test]
fn rows_are_chosen_by_the_first_word_and_outputs_by_the_second() {
    let drawn = |value, knot: u64, output: u64| table().index(value, &mut RunsDry(vec![output << 11, knot << 11]));
    assert_eq!(drawn(0.5, HALF - 1, HALF), Ok(1));
    assert_eq!(drawn(0.5, HALF - 1, HALF - 1), Ok(0));
    assert_eq!(drawn(0.5, HALF, HALF), Ok(0));
    assert_eq!(drawn(1.0, 2 * HALF - 1, HALF), Ok(1));
}

#[test]
fn a_value_outside_the_domain_takes_no_words_and_shows_nowhere() {
    let mut generator = RunsDry(vec![1; 3]);
    for value in [-0.25, 1.25, f64::NAN, f64::INFINITY] {
        let stopped = table().report(value, &mut generator).unwrap_err();
        assert_eq!(stopped, Stopped::NotInDomain);
        assert!(!stopped.to_string().contains("25"));
    }
    assert_eq!(generator.0.len(), 3);
}
