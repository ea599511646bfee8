"""Promises of pairs of categories, from `optldp design --categorical --privacy` to shares of them."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from optldp import CategoricalPrior, InputError, design, load_mechanism
from optldp.designer.objectives import Loss
from optldp.designer.privacies import carries_budgets
from optldp.mechanisms import Metric, TableError
from optldp.mechanisms.categorical import CategoricalTable
from optldp.mechanisms.files.bundle import document_of, document_to_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.promise import Blocks, Sensitive
from optldp.mechanisms.spaces.places import Places
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.cone import ratios

AUDITOR = Path(__file__).parents[3] / "examples" / "verify_table.py"
NAMES, WEIGHTS = ("flu", "hiv", "none", "cold"), np.array([2, 1, 5, 2]) / 10
LAW = [[0.4, 0.4, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]]

FILES = {
    "by-value:FILE,rule=min": "value,epsilon\nhiv,0.5\nflu,2\nnone,3\ncold,1\n",
    "blocks:FILE,within=0.5,across=2": "value,block\nnone,well\nflu,ill\nhiv,ill\ncold,ill\n",
    "sensitive:FILE": "value\nhiv\n",
    "ratios:FILE": "0,1,2,1\n1,0,1,3\n2,1,0,inf\n1,3,1,0\n",
    "metric:distance=FILE": "0,2,1,0.5\n2,0,2,2\n1,2,0,1\n0.5,2,1,0\n",
}


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("value,weight\n" + "".join(f"{n},{w}\n" for n, w in zip(NAMES, WEIGHTS.tolist(), strict=True)))
    return path


@pytest.mark.parametrize("privacy", FILES)
def test_from_design_to_shares(optldp, prior, tmp_path, privacy):
    """Of the loss that the program of all pairs has, proved by both verifiers, perturbed, and estimated of."""
    said, out, people, reports = (tmp_path / name for name in ("said.csv", "m.json", "people.csv", "reports.csv"))
    said.write_text(FILES[privacy])
    budget = () if carries_budgets(privacy) else ("--epsilon", 1)
    asked = ("--categorical", "--privacy", privacy.replace("FILE", str(said)), "--objective", "minimax", *budget)
    told = json.loads(optldp("design", "--prior", prior, "--public", *asked, "--out", out, "--json").stdout)
    table = load_mechanism(out)
    assert isinstance(table, CategoricalTable)
    assert told["lower_bound"] <= told["value"] == told["worst_loss"]
    all_pairs = ChannelProgram(ratios(table.promise.limits(np.arange(4))), WEIGHTS, 1 - np.eye(4), 1.0)
    assert told["value"] == pytest.approx(solve_channel(all_pairs, solver="highs").value, rel=1e-6)
    assert table.promise.kind == privacy.partition(":")[0]
    assert json.loads(optldp("verify", out, "--json").stdout)["verdict"] == "proved"
    runpy.run_path(str(AUDITOR))["prove"](json.loads(out.read_text()))
    people.write_text("job\n" + "\n".join(NAMES * 300) + "\n")
    assert table.promise.caution in optldp("perturb", out, people, "--column", "job", "--out", reports).stderr
    found = json.loads(optldp("estimate", out, reports, "--json").stdout)
    assert sum(found["value"]) == pytest.approx(1)
    assert found["n"] == 1200
    costs = json.loads(optldp("evaluate", out, "--prior", prior, "--json").stdout)
    assert costs["worst_loss"] == told["value"]
    assert costs["ratio_to_new_design"] == pytest.approx(1, abs=1e-6)


def test_reports_that_tell_some_alike_are_said_to_do_so(optldp, prior, tmp_path):
    said = tmp_path / "said.csv"
    said.write_text(FILES["sensitive:FILE"])
    asked = ("--categorical", "--privacy", f"sensitive:{said}", "--epsilon", 0.1, "--out", tmp_path / "m.json")
    assert "--objective minimax" in optldp("design", "--prior", prior, "--public", *asked).stderr


def changed(document):
    """The document with each member of its promise replaced in turn, and others' promises in its place."""
    said = document["promise"]
    for member, entry in ((name, entry) for name in said for entry in (None, 0, 17.0, [], "x", [True, False])):
        yield document | {"promise": said | {member: entry}}
    for other in ({"kind": "metric"}, {"kind": "metric", "period": 9.0}, {"kind": "approximate", "delta": 0.1}, {}):
        yield document | {"promise": other}
    for more in ({"blocks": [0, 1, 0]}, {"blocks": [7, 7, 1]}, {"within": 0.75}, {"within": 0.4}):
        yield document | {"promise": said | more}
    yield document | {"epsilon": 1.5}


def test_verifiers_agree_on_changed_promises():
    document = CategoricalTable.from_probabilities("abc", LAW, 1.0, promise=Blocks([0, 0, 1], 0.5, 1.0))
    prove, accepted = runpy.run_path(str(AUDITOR))["prove"], []
    for made in changed(as_document(document)):
        signed = made | {"checksum": checksum(made)}
        both = [
            taken(lambda made=made: proved(document_to_mechanism(made))),
            taken(lambda m=signed: prove(m)),
        ]
        assert both[0] == both[1], made["promise"]
        accepted += both
    assert not all(accepted)
    assert any(accepted)


def proved(mechanism):
    mechanism.require_private()


def as_document(mechanism):
    made = json.loads(json.dumps(document_of(mechanism), default=lambda array: array.tolist()))
    return {name: value for name, value in made.items() if name != "checksum"}


def taken(read):
    try:
        read()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, TableError):
        return False
    return True


def test_places_may_be_sensitive_or_in_blocks():
    places = Places([[0, 0], [1, 0], [0, 2]])
    prior, promise = CategoricalPrior(places, [1, 2, 1]), Sensitive(1.0, [True, False, False])
    made = design(prior, promise, objective=Loss("absolute"))
    assert made.mechanism.promise == promise
    assert made.mechanism.failures() == ()
    assert made.bound <= made.value < design(prior, 1.0, objective=Loss("absolute")).value


@pytest.mark.parametrize("promise", [Metric(1.0), Metric(1.0, period=24.0), Blocks([0, 1], 1.0, 1.0)])
def test_what_says_nothing_of_labels_is_refused(promise):
    with pytest.raises(TableError):
        CategoricalTable.from_probabilities("abc", LAW, 1.0, promise=promise)
    with pytest.raises(InputError):
        design(CategoricalPrior("abc", [1, 1, 1]), promise, objective=Loss("zero-one"), outputs=3)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("value,block\nflu,a\nhiv,b\nnone,a\n", "none for cold"),
        ("value,block\nflu,a\nhiv,b\nnone,a\ncold,a\nflu,a\n", "got flu 2 times"),
        ("value,block\nflu,a\nhiv,b\nnone,a\ncold,a\nleprosy,a\n", "got leprosy"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_line(refusal, prior, tmp_path, file, says):
    said = tmp_path / "said.csv"
    said.write_text(file)
    asked = ("--categorical", "--privacy", f"blocks:{said},within=1,across=2", "--out", tmp_path / "m.json")
    assert says in refusal("design", "--prior", prior, *asked)
