"""`optldp audit`: exit codes, what it says, bundles, and samplers behind a pipe."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from optldp.mechanisms import save_bundle
from optldp.mechanisms.categorical import basic_rappor
from optldp.mechanisms.files.checksum import checksum

CLIENT = """
import bisect, itertools, json, secrets, sys

table = json.load(open(sys.argv[1]))
knots, sums = table["knots"], [list(itertools.accumulate(row)) for row in table["numerators"]]

def draw(x):
    k = min(bisect.bisect_right(knots, x) - 1, len(knots) - 2)
    right = round(2**53 * ((x - knots[k]) / (knots[k + 1] - knots[k])))
    return table["low"][bisect.bisect_right(sums[k + (secrets.randbits(53) < right)], secrets.randbits(53))]

def text(x):
    low, high = knots[0], knots[-1]
    y = draw(min(max(x, low), high))
    return FORM

for line in sys.stdin:
    print(text(float(line)))
"""
"""A client of the standard library alone, which starts quickly; FORM says how it prints its report y of the value x."""

ENCODER = """
import json, secrets, sys

made = json.load(open(sys.argv[1]))
for line in sys.stdin:
    own = made["categories"].index(json.loads(line))
    odds = [made["own_one"] if code == own else made["other_one"] for code in range(len(made["categories"]))]
    print(bytes([sum((secrets.randbits(53) < one) << 7 - place for place, one in enumerate(odds))]).hex())
"""


def claiming(path: Path, epsilon: float) -> Path:
    """A copy of a table file with another claim and a checksum that fits."""
    document = {**json.loads(path.read_text()), "epsilon": epsilon}
    Path("claim.json").write_text(json.dumps({**document, "checksum": checksum(document)}))
    return Path("claim.json")


def client(table: Path, form: str = "repr(y)", code: str = CLIENT) -> str:
    """A command that runs this program on a table."""
    Path("client.py").write_text(code.replace("FORM", form))
    return f"{sys.executable} -I -S client.py {table}"


@pytest.fixture
def without_learning(monkeypatch) -> None:
    """No classifier is trained, which takes most of an audit's time, where it is not what finds out."""
    monkeypatch.setitem(sys.modules, "sklearn", None)


@pytest.mark.nightly
def test_the_real_sampler_passes(optldp, table):
    done = optldp("audit", table, "--samples", "2e5", "--confidence", 0.999999, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["ok"], found["epsilon"], found["confidence"]) == (True, 1.0, 0.999999)
    assert (found["simulated"], found["foreign"], found["sampler"]) == (False, 0, None)
    assert 0.85 < found["lower_bound"] <= 1.0
    assert 0 < found["counts"][1] < found["counts"][0] < found["trials"][0]
    assert 190_000 < found["draws"] <= 200_000


@pytest.mark.nightly
def test_a_claim_a_tenth_too_small_is_exit_code_1(optldp, table):
    done = optldp("audit", claiming(table, 0.9), "--samples", "1e6", "--seed", 3, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["simulated"] is True


@pytest.mark.nightly
def test_the_text_says_what_was_found_and_what_was_tried(optldp, table):
    text = optldp("audit", claiming(table, 0.5), "--seed", 3, "--samples", "5e4")
    assert text.exit_code == 1
    for words in ("ABOVE ITS CLAIM", "lower bound", "event", "last bits and bytes", "not tried", "time, memory"):
        assert words in text.stdout


@pytest.mark.nightly
def test_without_scikit_learn_the_audit_says_so(optldp, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = optldp("audit", table, "--samples", 5000)
    assert "not tried    learned by a classifier: scikit-learn is not installed" in done.stdout
    monkeypatch.delitem(sys.modules, "sklearn")
    assert "tried        learned by a classifier" in optldp("audit", table, "--samples", 5000).stdout


@pytest.mark.nightly
def test_a_seed_repeats_the_audit(optldp, table):
    arguments = ["audit", table, "--samples", 20_000, "--seed", 1, "--json"]
    assert optldp(*arguments).stdout == optldp(*arguments).stdout


@pytest.mark.nightly
def test_a_bundle_is_audited(optldp, here):
    save_bundle(basic_rappor(["cook", "\x1b[31mnurse"], 1.0), "jobs.json")
    done = optldp("audit", "jobs.json", "--samples", "5e4", "--confidence", 0.999999)
    assert done.exit_code == 0, done.output
    assert "within its claim" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
def test_a_sampler_behind_a_pipe_is_audited(optldp, table):
    command = client(table)
    done = optldp("audit", table, "--sampler", command, "--samples", 5000, "--confidence", 0.999999, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["sampler"], found["foreign"]) == (command, 0)
    assert found["lower_bound"] > 0.2  # of 1; the reports are drawn anew each time


@pytest.mark.nightly
def test_a_bundle_behind_a_pipe_is_audited(optldp, here):
    save_bundle(basic_rappor(["cook", 'the "chef"', "nurse"], 1.0), "jobs.json")
    command = client(Path("jobs.json"), code=ENCODER)
    done = optldp("audit", "jobs.json", "--sampler", command, "--samples", 5000, "--confidence", 0.999999, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["foreign"] == 0


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
def test_a_client_that_prints_fewer_digits_for_some_values_is_caught(optldp, table):
    """The reports are good ones, only their text tells."""
    command = client(table, "f'{y:.17e}' if x > 50 else repr(y)")
    done = optldp("audit", table, "--sampler", command, "--samples", 12_000, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["lower_bound"] > 5


LEAKS = {
    "the end of the line": (r"repr(y) + ('\r' if x > 50 else '')", "is published as"),
    "digits that no double has": ("repr(y) + ('00000000000000000000' if x > 50 else '')", "is published as"),
    "a space": ("repr(y) + ' ' * (x > 50)", "is published as"),
    "one more digit": ("f'{y:.40f}'[:30] + ('7' if x > 50 else '3')", "is published as"),
    "integers as they came": ("line.strip() if '.' not in line else repr(y)", "is published as"),
    "an exponent": ("f'{y:.17e}' if x > 50 else repr(y)", "is published as"),
}
"""Forms that read as the same report, and tell whether the value is above 50."""


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
@pytest.mark.parametrize("leak", LEAKS)
def test_a_client_that_tells_by_how_its_report_is_written_is_caught(optldp, table, leak):
    form, says = LEAKS[leak]
    done = optldp("audit", table, "--sampler", client(table, form), "--samples", 3000, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["misspelled"] > 400
    assert says in found["first_misspelled"]
    shown = optldp("audit", table, "--sampler", client(table, form), "--samples", 3000).stdout
    assert "misspelled" in shown


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
@pytest.mark.parametrize("written", ["line.strip().isdigit()", "'e' in line", "line.endswith('00\\n')"])
def test_a_client_that_gives_back_what_is_spelled_in_one_way_is_caught(optldp, table, written):
    """Python's own spelling of a double is the only one that was sent once."""
    code = CLIENT.replace("print(text(float(line)))", f"print(repr(knots[-1]) if {written} else text(float(line)))")
    code = code.replace("print(repr(knots[-1])", "print(repr(table['low'][-1 if float(line) > 50 else 0])")
    command = client(table, code=code)
    done = optldp("audit", table, "--sampler", command, "--samples", 20_000, "--confidence", 0.999, "--json")
    found = json.loads(done.stdout)
    assert found["misspelled"] == 0
    assert done.exit_code == 1, found


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
@pytest.mark.skipif(shutil.which("node") is None, reason="the shipped sampler runs in node")
def test_the_shipped_browser_sampler_passes_with_values_outside(optldp, table):
    """As the checklist asks for it."""
    sampler = Path(__file__).parents[3] / "clients" / "javascript" / "sampler.js"
    command, options = f"node {sampler} {table}", ["--samples", 4000, "--confidence", 0.999999, "--json"]
    done = optldp("audit", table, "--sampler", command, "--outside", *options)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["misspelled"] == 0


@pytest.mark.nightly
def test_zeros_before_a_number_and_capital_letters_are_no_published_spelling(optldp, here):
    save_bundle(basic_rappor(["cook", "chef", "nurse"], 1.0), "jobs.json")
    code = ENCODER.replace(".hex())", ".hex().upper().zfill(2))")
    command = client(Path("jobs.json"), code=code)
    done = optldp("audit", "jobs.json", "--sampler", command, "--samples", 3000, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert found["misspelled"] > 0
    assert "is published as" in found["first_misspelled"]


@pytest.mark.nightly
@pytest.mark.usefixtures("without_learning")
def test_a_client_that_says_what_it_clipped_is_caught(optldp, table):
    command = client(table, "'banana' if x > high else repr(y)")
    options = ["--samples", 5000, "--confidence", 0.999999]
    assert optldp("audit", table, "--sampler", command, *options).exit_code == 0
    assert optldp("audit", table, "--sampler", command, "--outside", *options).exit_code == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--samples", 10], "samples must be a whole number of at least 2000, got 10"),
        (["--samples", "1000.5"], "samples must be a whole number, got 1000.5"),
        (["--samples", "inf"], "samples must be a whole number, got inf"),
        (["--samples", "nan"], "samples must be a whole number, got nan"),
        (["--confidence", 2], "confidence must lie strictly between 0 and 1, got 2.0"),
        (["--timeout", 3], "--timeout is of no use without --sampler"),
        (["--outside"], "--outside is of no use without --sampler"),
        (["--sampler", "cat", "--seed", 1], "--seed is of no use to --sampler"),
        (["--sampler", "cat", "--timeout", 0], "the timeout must be positive, got 0.0"),
        (["--sampler", ""], "the sampler must be a command, got no words"),
        (["--sampler", "no-such-program"], "must be a program that can be run: No such file or directory"),
        (["--sampler", "yes banana", "--samples", 2000], "must print one report a line, got more than"),
        (["--sampler", "sed s/.*/banana/", "--samples", 2000], "must print reports, got 'banana' in line 1"),
    ],
)
def test_what_cannot_be_audited_is_refused(refusal, table, options, says):
    assert says in refusal("audit", table, *options)
