"""Table files: what is written comes back, and whatever was tampered with is refused."""

import json

import numpy as np
import pytest
from optldp.mechanisms import (
    FAMILIES,
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    laplace,
    load_table,
    piecewise,
    save_table,
)
from optldp.mechanisms.documents.table import KEYS
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.sampling.within_cell import GeometricTails
from optldp.mechanisms.table.knot_prior import KnotPrior

PRIOR = KnotPrior(np.array([0.25, 0.5, 0.25]), np.array([0.01, 0.02]), "private-report")


@pytest.fixture
def saved(tmp_path):
    """A piecewise table on disk, with everything that a table can carry."""
    table = piecewise([0.0, 1.0, 3.0], 1.0).with_prior(PRIOR)
    table = table.with_provenance(
        Provenance("piecewise", {"unbiased": True, "list": [1, "a", None]}, "9", {"gap": 0.5})
    )
    path = tmp_path / "table.json"
    save_table(table, path, allow_unproved=True)
    return path


def rewrite(path, change, *, sign=True):
    """Alter the document on disk; sign it anew, as a careful tamperer would, where it can be signed."""
    document = json.loads(path.read_text())
    document = change(document) or document
    if sign and "checksum" in document:
        document["checksum"] = checksum(document)
    path.write_text(json.dumps(document))


def same(one, other):
    """Whether two tables are equal, bit by bit."""
    arrays = ("knots", "low", "high", "probabilities")
    assert all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
    assert (one.epsilon, one.units, one.within.kind) == (other.epsilon, other.units, other.within.kind)
    assert str(one.within.parameters()) == str(other.within.parameters())
    assert one.provenance.__dict__ == other.provenance.__dict__
    assert (one.prior is None) == (other.prior is None)
    if one.prior is not None:
        assert np.array_equal(one.prior.weights, other.prior.weights)
        assert np.array_equal(one.prior.rounding, other.prior.rounding)
        assert one.prior.source == other.prior.source


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_comes_back_bit_by_bit(tmp_path, name, suffix):
    """In both forms, infinite tails and densities within cells included."""
    table = FAMILIES[name]([-2.0, 0.1, 5.0], 1.0).with_prior(PRIOR)
    save_table(table, tmp_path / f"t{suffix}", allow_unproved=True)
    again = load_table(tmp_path / f"t{suffix}", allow_unproved=True)
    same(table, again)
    rng = np.random.default_rng
    np.testing.assert_array_equal(again.sample([1.0, 2.0], rng(1)), table.sample([1.0, 2.0], rng(1)))


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_lattice_tables_with_units_come_back(tmp_path, suffix):
    """Geometric tails, text beyond ASCII, no prior, a certificate."""
    table = TabulatedMechanism(
        knots=np.array([0.0, 1.0]),
        low=np.array([-np.inf, 0.5, 2.0]),
        high=np.array([-1.0, 0.5, np.inf]),
        probabilities=np.array([[0.4, 0.2, 0.4], [0.3, 0.3, 0.4]]),
        epsilon=0.5,
        within=GeometricTails(0.25, 0.5),
        provenance=Provenance("aaa", {"M": 4}, certificate={"lower_bound": 1.5, "status": "optimal"}),
        units="km²/€",
    )
    save_table(table, tmp_path / f"t{suffix}", allow_unproved=True)
    same(table, load_table(tmp_path / f"t{suffix}", allow_unproved=True))


def test_both_forms_carry_the_same_checksum(tmp_path):
    """It is over the document, not over the bytes of the file."""
    save_table(laplace([0, 1, 2], 1.0), tmp_path / "t.json", allow_unproved=True)
    save_table(laplace([0, 1, 2], 1.0), tmp_path / "t.npz", allow_unproved=True)
    digits = json.loads((tmp_path / "t.json").read_text())["checksum"]
    with np.load(tmp_path / "t.npz") as archive:
        assert json.loads(archive["document"].tobytes())["checksum"] == digits


def test_the_json_form_has_one_line_per_matrix_row(saved):
    """So that two tables can be compared by eye."""
    lines = saved.read_text().splitlines()
    rows = json.loads(saved.read_text())["probabilities"]
    assert all(f"  {json.dumps(row)}" in (line.rstrip(",") for line in lines) for row in rows)


@pytest.mark.parametrize("key", [*KEYS, "checksum"])
def test_a_missing_key_is_named(saved, key):
    """Whichever it is."""
    rewrite(saved, lambda d: {k: v for k, v in d.items() if k != key})
    with pytest.raises(TableError, match=f"refused: the table must have the key '{key}', which is missing"):
        load_table(saved, allow_unproved=True)


def set_(**changes):
    return lambda d: d | changes


def set_cell(i, j, value):
    def change(document):
        document["probabilities"][i][j] = value

    return change


def inside(name, key, value):
    def change(document):
        document[name][key] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_(format="optldp-table/9"), "format must be 'optldp-table/1' or 'optldp-table/2', got 'optldp-table/9'"),
        (set_(extra=1), "keys format.* only, got 'extra'"),
        (set_(units=7), "units must be text"),
        (set_(epsilon="1"), "epsilon must be a number, got '1'"),
        (set_(epsilon=True), "epsilon must be a number, got True"),
        (set_(epsilon=-1.0), "epsilon must be positive"),
        (set_(epsilon=0.9), "log-ratio must be at most 0.9, got 0.99999.* at output"),
        (set_(knots=[0.0, 1.0]), "must have shape"),
        (set_(knots=["0", "1", "3"]), "knots must be a list of numbers"),
        (set_(knots=[0, True, 3]), "knots must be a list of numbers"),
        (set_(knots=[0.0, 3.0, 1.0]), "knots must be strictly increasing"),
        (set_(low="none"), "low must be a list of numbers"),
        (set_(low=["minus", 0.0]), 'low must hold numbers, "-inf" or "inf", got .minus'),
        (set_(probabilities=3), "probabilities must be a list of rows"),
        (set_(probabilities=[[1.0], 2]), "something else in row 1"),
        (set_(probabilities=[[1.0], [0.5, 0.5]]), "equal length, got 2 in row 1"),
        (set_cell(1, 2, -0.125), "finite and non-negative, got -0.125 at row 1, output 2"),
        (set_cell(2, 0, "0.1"), "something else in row 2"),
        (set_cell(0, 0, 0.9), "every row must sum to 1, got .* in row 0"),
        (set_(within=[]), "within must be an object, got list"),
        (set_(within={}), "within.kind must be text, got None"),
        (set_(within={"kind": "fancy"}), "must be one of uniform"),
        (set_(within={"kind": "linear"}), "must have the parameters"),
        (set_(within={"kind": "linear", "tilt": [[2.0]]}), "tilt must be between -1 and 1"),
        (set_(within={"kind": "geometric-tails", "step": "a", "ratio": 0.5}), "within.step must be a number"),
        (set_(within={"kind": "geometric-tails", "step": [[1.0]], "ratio": 0.5}), "step must be a number"),
        (set_(provenance=None), "provenance must be an object"),
        (set_(provenance={"method": "x"}), "provenance must have the key 'parameters'"),
        (inside("provenance", "author", "me"), "provenance must have the keys .* only, got 'author'"),
        (inside("provenance", "parameters", {"a": {}}), "must be a number"),
        (inside("provenance", "certificate", [1]), "certificate must be a mapping"),
        (set_(prior=0.5), "prior must be an object"),
        (inside("prior", "weights", [0.5, 0.25, 0.5]), "prior weights must sum to 1"),
        (inside("prior", "weights", [0.5, 0.5]), "n - 1 rounding terms"),
        (inside("prior", "source", "secret"), "prior source must be one of"),
        (set_(knots=[0.0, 1.0, 4.0]), "claims to be unbiased"),
        (lambda d: [d], "must hold one JSON object, got list"),
    ],
)
def test_a_tampered_document_is_refused_even_with_a_fresh_checksum(saved, change, message):
    """Verification looks at the numbers; every message says what and where, in one line."""
    rewrite(saved, change)
    with pytest.raises(TableError, match=message) as caught:
        load_table(saved, allow_unproved=True)
    assert str(saved) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_cell(0, 1, float("nan")), "numbers must be finite, got NaN"),
        (inside("provenance", "parameters", {"a": float("inf")}), "numbers must be finite, got Infinity"),
        (set_(epsilon=-float("inf")), "numbers must be finite, got -Infinity"),
        (set_(epsilon=10**400), "epsilon must hold numbers that fit in a double"),
        (set_(knots=[0, 10**400, 3]), "knots must hold numbers that fit in a double"),
        (set_(epsilon=1.5), "checksum must be sha256:"),
        (set_(units="miles"), "checksum must be sha256:"),
        (set_(checksum="sha256:0"), "got 'sha256:0': the file was altered"),
        (set_(checksum=None), "got None: the file was altered"),
        (inside("prior", "source", "public"), "checksum must be sha256:"),
    ],
)
def test_a_document_that_was_only_edited_is_refused(saved, change, message):
    """Numbers that JSON does not have, and edits that leave a valid table but not its checksum."""
    rewrite(saved, change, sign=False)
    with pytest.raises(TableError, match=message):
        load_table(saved, allow_unproved=True)


@pytest.mark.slow
def test_text_larger_than_the_cap_is_neither_written_nor_read(tmp_path, monkeypatch):
    """The other form has room for it."""
    table = laplace(np.arange(300.0), 1.0)
    save_table(table, tmp_path / "t.json", allow_unproved=True)
    monkeypatch.setattr("optldp.mechanisms.files.json_text.MAX_JSON_BYTES", 300_000)
    with pytest.raises(TableError, match=r"at most 300000 bytes long, got .*: use a table's \.npz form"):
        load_table(tmp_path / "t.json", allow_unproved=True)
    with pytest.raises(InputError, match=r"at most 300000 bytes long, got more: use a table's \.npz form"):
        save_table(table, tmp_path / "new.json", allow_unproved=True)
    save_table(table, tmp_path / "t.npz", allow_unproved=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["t.json", "t.npz"]
    same(table, load_table(tmp_path / "t.npz", allow_unproved=True))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """Missing, or a folder."""
    with pytest.raises(InputError, match=r"readable file, got .*no.json': No such file"):
        load_table(tmp_path / "no.json", allow_unproved=True)
    with pytest.raises(InputError, match=r"readable file, got .*: Is a directory"):
        load_table(tmp_path, allow_unproved=True)


def test_a_table_that_fails_verification_is_never_written(tmp_path):
    """Neither is anything else."""
    table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.9, 0.1], [0.1, 0.9]], 1.0)
    with pytest.raises(TableError, match="log-ratio must be at most 1"):
        save_table(table, tmp_path / "t.json", allow_unproved=True)
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_target_leaves_nothing_behind(tmp_path):
    """A missing folder, a folder in place of the file, a suffix without a form."""
    table = laplace([0, 1], 1.0)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="must be a file, got the folder"):
        save_table(table, tmp_path / "folder.json", allow_unproved=True)
    with pytest.raises(InputError, match="must be writable"):
        save_table(table, tmp_path / "missing" / "t.json", allow_unproved=True)
    with pytest.raises(InputError, match=r"must end in \.json or \.npz"):
        save_table(table, tmp_path / "t.csv", allow_unproved=True)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder.json"]
