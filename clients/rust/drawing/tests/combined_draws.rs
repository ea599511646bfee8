//! What no vector shows of draws of several parts: generators that fail in the middle, and values that ask for no word.

use optldp_drawing::{Categories, Levels, Mechanism, NoRandomness, Oracle, Stopped, Value, Words, DENOMINATOR};

/// A generator that fails when it is asked for more words than it has.
struct Dry {
    left: usize,
    asked: usize,
}

impl Words for Dry {
    fn fill(&mut self, words: &mut [u64]) -> Result<(), NoRandomness> {
        self.asked += words.len();
        self.left = self.left.checked_sub(words.len()).ok_or(NoRandomness)?;
        words.fill(1);
        Ok(())
    }
}

fn unary(many: usize) -> Categories {
    let labels = (0..many).map(|each| each.to_string()).collect();
    let oracle = Oracle::Unary { own: DENOMINATOR / 2, other: DENOMINATOR / 4 };
    Categories::from_proved(1.0, "t0".into(), labels, oracle)
}

fn levels() -> Mechanism {
    let levels = [Mechanism::Names(unary(10)), Mechanism::Names(unary(10))];
    Mechanism::Levels(Levels { levels: levels.into(), protocol: Some(unary(2)) })
}

#[test]
fn a_generator_that_fails_in_any_part_stops_the_whole_draw() {
    let (mechanism, value) = (levels(), Value::Name("3"));
    for left in 0..12 {
        let drawn = mechanism.report(&Value::AtLevel(&value, 1), &mut Dry { left, asked: 0 });
        assert_eq!(drawn, Err(Stopped::NoRandomness), "{left} words");
    }
    let drawn = mechanism.report(&Value::AtLevel(&value, 1), &mut Dry { left: 12, asked: 0 });
    assert_eq!(drawn, Ok(vec!["3".into(), "ffc0".into()]));
}

#[test]
fn what_is_no_value_asks_for_no_word() {
    let (known, unknown) = (Value::Name("3"), Value::Name("secret"));
    let wrong = [Value::AtLevel(&unknown, 0), Value::AtLevel(&known, 2), Value::Number(3.0), known];
    for value in wrong {
        let mut dry = Dry { left: 0, asked: 0 };
        let stopped = levels().report(&value, &mut dry).unwrap_err();
        assert!(dry.asked == 0 && stopped != Stopped::NoRandomness && !stopped.to_string().contains("secret"));
    }
}
