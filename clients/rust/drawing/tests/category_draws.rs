//! What stops a draw of a category, and what a draw says.

use optldp_drawing::{Categories, Field, NoRandomness, Oracle, Report, Stopped, Words};

const WHOLE: u64 = 1 << 53;

fn jobs(oracle: Oracle) -> Categories {
    let names = ["cook", "smith", "nurse"].map(String::from);
    Categories::from_proved(1.0, "t0".into(), names.into(), oracle)
}

/// Each oracle, and how many words a report takes.
fn oracles() -> [(Categories, usize); 5] {
    let sums = [2, 2, 4, 1, 3, 4, 0, 2, 4].map(|quarters| quarters * (WHOLE / 4));
    [
        (jobs(Oracle::Table { sums: sums.into(), outputs: 3 }), 1),
        (jobs(Oracle::Unary { own: WHOLE / 2, other: WHOLE / 4 }), 3),
        (jobs(Oracle::Subset { chosen: 2, own: WHOLE / 4 * 3 }), 3),
        (jobs(Oracle::Hash { field: Field::new(2, &[0]), digits: 2, own: WHOLE / 4 * 3, other: WHOLE / 4 }), 2),
        (jobs(Oracle::Geometry { field: Field::new(2, &[0]), length: 2, own: WHOLE / 4 * 3 }), 3),
    ]
}

/// Gives words, the last first, and fails where it has too few: after it has filled some.
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
    for (mechanism, needed) in oracles() {
        for many in 0..needed {
            assert_eq!(mechanism.report("nurse", &mut RunsDry(vec![1; many])), Err(Stopped::NoRandomness));
        }
        let mut enough = RunsDry(vec![1; needed]);
        assert!(mechanism.report("nurse", &mut enough).is_ok());
        assert!(enough.0.is_empty());
    }
}

#[test]
fn a_word_that_favours_some_is_drawn_again() {
    let four = Categories::from_proved(
        1.0,
        "t0".into(),
        ["a", "b", "c", "d"].map(String::from).into(),
        Oracle::Subset { chosen: 1, own: 1 },
    );
    assert_eq!(four.report("a", &mut RunsDry(vec![1, u64::MAX, u64::MAX])), Ok(Report::Bits([0b0010_0000].into())));
}

#[test]
fn a_value_that_is_no_category_takes_no_words_and_shows_nowhere() {
    for (mechanism, _) in oracles() {
        let mut generator = RunsDry(vec![1; 4]);
        let stopped = mechanism.report("surgeon", &mut generator).unwrap_err();
        assert_eq!(stopped, Stopped::NoCategory);
        assert!(!stopped.to_string().contains("surgeon"));
        assert_eq!(generator.0.len(), 4);
    }
}

#[test]
fn bits_are_written_in_hexadecimal() {
    let [_, (unary, _), ..] = oracles();
    let report = unary.report("smith", &mut RunsDry(vec![(WHOLE / 4) << 11, (WHOLE / 4) << 11, 0]));
    assert_eq!(report.map(|report| report.to_string()), Ok("c0".into()));
}
