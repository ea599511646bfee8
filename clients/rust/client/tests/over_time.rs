//! What no vector shows of a state: it is one way's and one user's, it is a file of its owner alone, and no error tells.

use optldp_client::{read_way, FilePlace, NoRandomness, Place, Platform, Stopped, Unsent, Value, Way, Words};
use std::fs;
use std::path::PathBuf;

struct Dry;

impl Words for Dry {
    fn fill(&mut self, _: &mut [u64]) -> Result<(), NoRandomness> {
        Err(NoRandomness)
    }
}

fn way() -> Way {
    read_way(include_str!("memoised.json")).expect("the file is proved")
}

/// A state and a mark in a folder of their own.
fn places(name: &str) -> (FilePlace, FilePlace, PathBuf) {
    let folder = std::env::temp_dir().join(format!("optldp-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    (FilePlace(folder.join("state")), FilePlace(folder.join("mark")), folder)
}

#[test]
fn a_report_is_the_same_after_a_restart_and_its_files_are_the_owners() {
    let (mut state, mut mark, folder) = places("restart");
    let sent = way().report("Zoe\u{308}", 3, &Value::Name("red"), &mut state, &mut mark, &mut Platform).unwrap();
    fs::write(folder.join("state.new"), "").unwrap(); // for all to read, left by a crash or by another program
    let again = way().report("Zo\u{eb}", 3, &Value::Name("blue"), &mut state, &mut mark, &mut Dry).unwrap();
    assert!(sent.is_some() && sent == again);
    #[cfg(unix)]
    for file in [&state.0, &mark.0] {
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file).unwrap().permissions()) & 0o777, 0o600);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_state_of_another_user_or_one_that_was_altered_is_refused() {
    let (mut state, mut mark, folder) = places("other");
    way().report("ann", 1, &Value::Name("red"), &mut state, &mut mark, &mut Platform).unwrap();
    let text = state.read().unwrap().unwrap();
    let other = way().report("bob", 2, &Value::Name("red"), &mut state, &mut mark, &mut Platform);
    assert!(matches!(other, Err(Unsent::State)));
    for altered in [text.replace("\"lost\": 0", "\"lost\": -1"), text.replace('{', "["), text.replace("number", "name")]
    {
        state.write(&altered).unwrap();
        let sent = way().report("ann", 2, &Value::Name("red"), &mut state, &mut mark, &mut Platform);
        assert!(matches!(sent, Err(Unsent::State)));
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_no_user_period_or_value_changes_no_state_and_is_not_told() {
    let (mut state, mut mark, folder) = places("none");
    let mut ask = |user: &str, period, value: &str| {
        let sent = way().report(user, period, &Value::Name(value), &mut state, &mut mark, &mut Platform);
        let error = sent.unwrap_err();
        assert!(!error.to_string().contains("secret") && state.read().unwrap().is_none());
        error
    };
    assert!(matches!(ask("", 1, "red"), Unsent::User));
    assert!(matches!(ask(&"secret".repeat(200), 1, "red"), Unsent::User));
    assert!(matches!(ask("ann", 0, "red"), Unsent::Period));
    assert!(matches!(ask("ann", 13, "red"), Unsent::Period));
    assert!(matches!(ask("ann", 1, "secret"), Unsent::Stopped(Stopped::NoCategory)));
    fs::remove_dir_all(folder).unwrap();
}
