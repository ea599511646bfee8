"""`optldp shuffle`: bounds on mixed reports of a file's mechanism, and budgets and tables for them."""

# pyright: reportOptionalOperand=false, reportOperatorIssue=false

import json

import pytest
from optldp.mechanisms import load_mechanism
from optldp.mechanisms.shuffling import Shuffled

FIVE = ("--prior", "prior.csv", "--public")
SEVENTEEN = ("--prior", "even.csv", "--public")


@pytest.fixture
def even(here):
    (here / "even.csv").write_text("value,weight\n" + "".join(f"{-1 + i / 8},1\n" for i in range(17)))


def mixed(optldp, *words):
    done = optldp(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def mech(optldp):
    assert optldp("design", *FIVE, "--epsilon", 1, "--out", "mech.json").exit_code == 0


@pytest.mark.nightly
@pytest.mark.usefixtures("even")
@pytest.mark.parametrize(
    ("epsilon", "n", "upper", "clones", "lower", "beta"),
    [
        (1, "1e4", 0.04142, 0.04321, 0.0352, 0.4274),
        (2, "1e4", 0.10767, 0.11440, 0.1074, 0.6805),
        (4, "1e4", 0.39934, 0.41081, 0.3989, 0.9175),
        (1, "1e5", 0.01196, 0.01245, 0.0100, 0.4274),
        (2, "1e5", 0.03123, 0.03319, 0.0310, 0.6805),
        (4, "1e5", 0.11505, 0.11816, 0.1147, 0.9175),
    ],
)
def test_bounds_are_within_a_two_thousandth_of_those_of_the_trial(optldp, epsilon, n, upper, clones, lower, beta):
    assert optldp("design", *SEVENTEEN, "--epsilon", epsilon, "--out", "mech.json").exit_code == 0
    found = mixed(optldp, "shuffle", "mech.json", "--n", n, "--delta", "1e-6")
    assert found["lower_bound"] <= found["central_epsilon"] <= found["generic"] <= found["local_epsilon"] == epsilon
    got = [found[name] for name in ("central_epsilon", "generic", "lower_bound")]
    assert got == pytest.approx([upper, clones, lower], abs=5e-4)
    assert found["beta"] == pytest.approx(beta, abs=5e-5)


@pytest.mark.usefixtures("mech")
class TestShuffle:
    @pytest.mark.slow
    def test_it_says_what_the_library_says_and_rounds_what_it_prints_outwards(self, optldp):
        told = Shuffled(load_mechanism("mech.json"), 50, 1e-4)
        found = mixed(optldp, "shuffle", "mech.json", "--n", 50, "--delta", "1e-4")
        assert [found[name] for name in ("central_epsilon", "lower_bound", "generic", "beta", "sentence")] == [
            told.central_epsilon, told.lower_bound, told.generic, told.beta, told.sentence
        ]  # fmt: skip
        printed = optldp("shuffle", "mech.json", "--n", 50, "--delta", "1e-4").stdout
        facts = dict(line.split() for line in printed.splitlines()[1:-1])
        assert told.central_epsilon <= float(facts["central_epsilon"]) <= told.central_epsilon * (1 + 1e-6)
        assert told.lower_bound * (1 - 1e-6) <= float(facts["lower_bound"]) <= told.lower_bound

    @pytest.mark.slow
    def test_rounds_are_told_together(self, optldp):
        found = mixed(optldp, "shuffle", "mech.json", "--n", 50, "--delta", "1e-4", "--times", 3)
        assert found["central_epsilon"] < found["epsilon_of_all_rounds"] < 3 * found["local_epsilon"]

    @pytest.mark.slow
    def test_a_delta_above_one_in_n_is_warned_of_and_none_is_refused(self, optldp):
        warned = optldp("shuffle", "mech.json", "--n", 50, "--delta", 0.1)
        assert (warned.exit_code, "drawn at random" in warned.stderr) == (0, True)
        refused = optldp("shuffle", "mech.json", "--n", 50, "--delta", 0)
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)


class TestTheBudgetThatACentralOneAffords:
    MIXED = ("--n", 20, "--central-epsilon", 0.5, "--shuffle-delta", "1e-2")

    @pytest.mark.nightly
    def test_plan_and_design_find_the_same_one_and_its_table_keeps_it(self, optldp):
        plan = mixed(optldp, "plan", *FIVE, *self.MIXED)
        made = mixed(optldp, "design", *FIVE, *self.MIXED, "--out", "mixed.json")
        assert plan["epsilon"] == made["epsilon"] > 0.5
        shuffled = Shuffled(load_mechanism("mixed.json"), 20, 1e-2)
        assert 0.499 < shuffled.central_epsilon == made["central_epsilon"] == plan["central_epsilon"] <= 0.5
        assert shuffled.local_epsilon == made["epsilon"]

    @pytest.mark.slow
    def test_categories_have_one_too(self, optldp, here):
        (here / "jobs.csv").write_text("value,weight\na,1\nb,2\nc,3\n")
        words = ("--prior", "jobs.csv", "--public", "--categorical", *self.MIXED, "--method", "grr")
        plan = mixed(optldp, "plan", *words)
        made = mixed(optldp, "design", *words)
        assert plan["epsilon"] == made["epsilon"]
        assert 0.499 < plan["central_epsilon"] == made["central_epsilon"] <= 0.5

    @pytest.mark.parametrize("command", ["plan", "design"])
    @pytest.mark.parametrize(
        ("words", "cure"),
        [
            (("--central-epsilon", 0.5), "add --n N --shuffle-delta D"),
            (("--shuffle-delta", "1e-3", "--epsilon", 1, "--n", 60), "--central-epsilon"),
            ((*MIXED, "--epsilon", 1), "leave --epsilon and --levels out"),
            (("--n", 60, "--central-epsilon", -1, "--shuffle-delta", "1e-3"), "positive"),
            (("--n", 60, "--central-epsilon", 0.5, "--shuffle-delta", 0), "delta must be"),
        ],
    )
    def test_what_makes_no_sense_is_refused_in_one_line(self, optldp, command, words, cure):
        done = optldp(command, *FIVE, *words)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert cure in done.stderr
