"""The command line for pairs at levels: design, show, verify, perturb, estimate, audit, and what is refused."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

from pathlib import Path

import numpy as np
import pytest
from optldp.designer.auditing.audit import audit
from optldp.estimators import count, estimate_key_means, fit_key_values
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.texts import read_labels
from optldp.mechanisms import duchi, load_mechanism
from optldp.mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.sampling.random_words import random_words

from ...conftest import found

JOBS = np.resize(["cook", "nurse", "pilot", ""], 900)
KEYS = ("--column", "job", "--categorical", "--value-column", "pay", "--range", 0, 60, "--knots", 3, "--public")
PAIRS = (*KEYS, "--levels", "0.5,1,2")
COLUMNS = ("--column", "job", "--value-column", "pay", "--level-column", "budget")


@pytest.fixture
def staff(here) -> Path:
    """staff.csv: job and pay, both or neither, and budget of 900 people."""
    rows = zip(JOBS, np.linspace(0.0, 60.0, 900), np.resize([0.5, 1.0, 2.0, 2.0, 2.0], 900), strict=True)
    Path("staff.csv").write_text("job,pay,budget\n" + "".join(f"{j},{p if j else ''},{b}\n" for j, p, b in rows))
    return Path("staff.csv")


@pytest.fixture
def designed(optldp, design_once, staff):
    """Design made.json with more options, perturb r.csv with it, and return what design said."""

    def run(*more: object, chosen: tuple[str, ...] = ("--value-method", "duchi")) -> dict:  # the best takes seconds
        said = design_once(staff, *PAIRS, *chosen, *more)
        found(optldp, "perturb", "made.json", staff, *COLUMNS, "--force", "--out", "r.csv", "--seed", 1)
        return said

    return run


def counted():
    made = load_mechanism("made.json")
    told = read_column("r.csv", "simulated_level")
    levels = made.level_numbers(told) if made.level_mechanism is None else told.astype(int)
    return count(made, PersonalisedReports(levels, made.levels[0].from_text(read_labels("r.csv", "simulated_report"))))


PROTECTED = ("--level-epsilon", 1)
OUE = (*PROTECTED, "--level-method", "oue")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(PROTECTED, marks=pytest.mark.nightly),
        pytest.param(("--padding", 2, "--method", "unary", *OUE), marks=pytest.mark.nightly),
    ],
)
def test_estimate_says_what_python_does(optldp, designed, more):
    """By every method, with the shares of the levels."""
    designed(*more)
    counts = counted()
    plain = estimate_key_means(counts)
    every = found(optldp, "estimate", "made.json", "r.csv")
    assert every["key"] == ["cook", "nurse", "pilot"]
    assert every["value"] == pytest.approx(plain.value.tolist())
    assert every["frequency_std_error"] == pytest.approx(plain.frequencies.std_error.tolist())
    assert every["level_shares"]["level"] == [0.5, 1.0, 2.0]
    assert every["level_shares"]["n"] == every["n"] == 900
    for method, own in (("em", "em"), ("mr", "mr"), ("mle", "joint")):
        fit = found(optldp, "estimate", "made.json", "r.csv", "--method", method)
        assert fit["value"] == pytest.approx(fit_key_values(counts, method=own).value.tolist(), rel=1e-6)
        assert fit["frequency"] == pytest.approx(fit_key_values(counts, method=own).frequencies.value.tolist())


@pytest.mark.nightly
def test_the_best_value_method_is_found_where_none_is_named(designed):
    """With three knots and budgets of 2 and less it is the one that is named in the other tests."""
    best, named = designed(chosen=()), designed()
    assert best | {"seconds": 0} == named | {"seconds": 0}


@pytest.mark.nightly
def test_show_and_verify_say_what_each_level_promises_and_what_tells_of_it(optldp, designed):
    """Randomised response tells less of the level than a place for each key: it is what a protected level gets."""
    unary, response = designed("--method", "unary", *PROTECTED), designed(*PROTECTED)
    assert unary["report_leakage"] > 2 * response["report_leakage"] > 1.0
    made = load_mechanism("made.json")
    for command in ("show", "verify"):
        facts = found(optldp, command, "made.json")
        assert facts["levels"] == [0.5, 1.0, 2.0]
        assert facts["max_log_ratio"] == pytest.approx([0.5, 1.0, 2.0], rel=1e-6)
        assert facts["max_log_ratio"] == [level.max_log_ratio for level in made.levels]
        assert facts["level_leakage"] == pytest.approx(response["report_leakage"] + 1.0)
        assert (facts["keys"], facts["padding"]) == (3, 1)
    assert found(optldp, "verify", "made.json")["verdict"] == "proved"


REFUSED = [
    (("design", "staff.csv", *PAIRS, "--epsilon", 1), "either --epsilon or --levels"),
    (("design", "staff.csv", *PAIRS, "--outputs", "0:1:3"), "of no use"),
    (("design", "staff.csv", *PAIRS, "--method", "oue"), "--method must be unary or grr for pairs"),
    (("design", "staff.csv", *PAIRS, "--value-method", "oue"), "--value-method must be one of"),
    (("perturb", "made.json", "staff.csv", *COLUMNS[:4], "--out", "s.csv"), "needs --level-column"),
    (("perturb", "made.json", "staff.csv", *COLUMNS[:5], "pay", "--out", "s.csv"), "must not miss values"),
    (("perturb", "made.json", "other.csv", *COLUMNS, "--out", "s.csv"), "levels must be among the 3 declared"),
    (("estimate", "made.json", "r.csv", "--method", "ua"), "--method must be one of"),
    (("estimate", "made.json", "r.csv", "--of", "quantiles"), "for tables of numbers"),
    (("estimate", "made.json", "r.csv", "--method", "mr", "--prune"), "for numbers and categories"),
]


@pytest.mark.nightly
def test_what_is_not_supported_is_refused_in_one_line(optldp, designed):
    """And exit code 2."""
    designed()
    Path("other.csv").write_text("job,pay,budget\ncook,3,0.7\n")
    for arguments, message in REFUSED:
        done = optldp(*arguments)
        assert (done.exit_code, len(done.stderr.strip().splitlines())) == (2, 1), done.output
        assert message in done.stderr


@pytest.mark.slow
def test_rows_that_are_no_reports_are_left_out_and_counted(optldp, designed):
    """A level that there is not, a place that there is not, an output that there is not."""
    designed()
    whole = found(optldp, "estimate", "made.json", "r.csv")
    with Path("r.csv").open("a") as file:
        file.write("0:1,3,\n9:1,1,\n0:7,1,\n")
    done = optldp("estimate", "made.json", "r.csv")
    assert done.exit_code == 2
    assert "3 of 903 rows" in done.stderr
    assert found(optldp, "estimate", "made.json", "r.csv", "--skip-invalid")["value"] == whole["value"]


@pytest.mark.nightly
@pytest.mark.parametrize("make", [key_value_unary, key_value_response])
def test_an_audit_finds_a_level_that_is_not_kept_and_passes_one_that_is(make):
    """A sampler that takes the loosest level for everybody, and the mechanism's own."""
    made = PersonalisedMechanism([make("abc", duchi([0.0, 1.0], epsilon), epsilon) for epsilon in (0.3, 2.0)], 1.0)

    rng = np.random.default_rng(1)
    words, inputs = random_words(rng), made.levels[0].inputs

    def honest(users, keys, values, n_users, levels):
        return made.sample(inputs.of_sets(users, keys, values, n_users), levels, rng)

    def careless(users, keys, values, n_users, levels):
        sent = made.sample(inputs.of_sets(users, keys, values, n_users), np.ones(n_users, dtype=int), rng)
        return PersonalisedReports(made.level_report.draw(levels, words), sent.reports)

    kept = audit(made, honest, samples=60_000, rng=rng)
    assert kept.ok
    caught = audit(made, careless, samples=60_000, rng=rng)
    assert not caught.ok
    assert caught.epsilon == 0.3
    assert caught.lower_bound > 0.8
