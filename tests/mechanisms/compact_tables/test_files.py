"""Floor forms on disk, as JSON and as npz: as short as they are said to be, and read as if by an enemy's hand."""

import io
import json
from contextlib import suppress

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError, load_mechanism, load_table, save_bundle
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.compact_tables import FloorForm
from optldp.mechanisms.files.bundle import bundle_to_document, parse_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.npz_table import to_npz

from ..floor_forms import SCALE, D, by_hand, document, wide_form


def digits(form) -> str:
    return checksum(bundle_to_document(form))


def told(content: bytes) -> str:
    """The checksum of what is read, which has a proof or breaks its promise, or why nothing is."""
    try:
        form = parse_mechanism(content)
    except TableError as error:
        return str(error)
    assert isinstance(form, FloorForm)
    form.failures()
    return digits(form)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("with_prior", [True, False])
def test_what_is_written_is_read_again(tmp_path, suffix, with_prior):
    """With all members, and the checksum of both forms is the same."""
    form = wide_form(9, 20, 1.0, with_prior=with_prior)
    save_bundle(form, tmp_path / f"m{suffix}")
    read = load_mechanism(tmp_path / f"m{suffix}")
    assert isinstance(read, FloorForm)
    np.testing.assert_equal(read.members(), form.members())
    assert digits(read) == digits(form)


@pytest.mark.parametrize("knots", [1501, pytest.param(6001, marks=pytest.mark.slow)])
def test_a_knot_takes_33_bytes_of_an_archive_and_100_of_text(tmp_path, knots):
    """With as many outputs as an optimum has at most, two a knot, and without a prior: 6001 take 200 and 600 kB."""
    form = wide_form(knots, 2 * knots, 1.0)
    save_bundle(form, tmp_path / "m.json")
    save_bundle(form, tmp_path / "m.npz")
    assert (tmp_path / "m.npz").stat().st_size < 33 * knots
    assert (tmp_path / "m.json").stat().st_size < 100 * knots
    read = load_mechanism(tmp_path / "m.npz")
    assert isinstance(read, FloorForm)
    assert read.sample([0.0, 33.3, 100.0]).shape == (3,)


def test_a_form_that_breaks_its_promise_is_neither_written_nor_loaded(tmp_path):
    """Nothing is left behind; a checksum that fits does not help."""
    broken = by_hand(ratio=4 * SCALE)
    with pytest.raises(TableError, match=r"the log-ratio must be at most 1.1, got 1.386"):
        save_bundle(broken, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
    (tmp_path / "m.json").write_text(json.dumps(document(broken)))
    with pytest.raises(TableError, match=r"refused: the log-ratio must be at most 1.1, got 1.386"):
        load_mechanism(tmp_path / "m.json")


def test_other_suffixes_and_bundles_in_archives_are_refused(tmp_path):
    """What has no long lists is JSON text."""
    with pytest.raises(InputError, match=r"must end in .json or .npz, got"):
        save_bundle(by_hand(), tmp_path / "m.txt")
    grr = categorical_grr(["a", "b"], 1.0)
    with pytest.raises(InputError, match=r"must end in .json, got"):
        save_bundle(grr, tmp_path / "m.npz")
    made = bundle_to_document(grr)
    with pytest.raises(TableError, match="must be of kind floor, got 'categorical-table': others are JSON text"):
        parse_mechanism(to_npz({**made, "checksum": checksum(made)}))


def test_it_is_no_table(tmp_path):
    """`load_table` says what it is given instead."""
    for suffix in (".json", ".npz"):
        save_bundle(by_hand(), tmp_path / f"m{suffix}")
        with pytest.raises(TableError, match=r"format must be .*, got 'optldp-bundle/1'"):
            load_table(tmp_path / f"m{suffix}")


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_a_flipped_bit_or_a_cut_anywhere_is_refused_or_harmless(tmp_path, suffix):
    """Harmless are bits that no reader looks at: the form is then the same."""
    path = tmp_path / f"m{suffix}"
    save_bundle(wide_form(5, 12, 1.0), path)
    content, wanted, rng, refused = path.read_bytes(), digits(load_mechanism(path)), np.random.default_rng(3), 0
    for place in rng.integers(0, len(content), 300).tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(0, 8))
        for altered in (bytes(flipped), content[:place]):
            outcome = told(altered)
            assert outcome == wanted or "\n" not in outcome
            refused += outcome != wanted
    assert refused > 450


ARCHIVES = {
    "a list missing": (lambda a: a.pop("starts"), "array 'starts', which is missing"),
    "a list of another type": (lambda a: a.update(floor=a["floor"].astype(float)), "'floor' must hold int64"),
    "a list of smaller numbers": (lambda a: a.update(starts=a["starts"].astype(np.int32)), "'starts' must hold int64"),
    "a matrix": (lambda a: a.update(starts=a["starts"][None]), "'starts' must have the shape"),
    "a list too long": (lambda a: a.update(starts=np.zeros(2**15 + 1, dtype=np.int64)), "'starts' must have the shape"),
    "another start": (lambda a: a["starts"].__setitem__(0, 7), "checksum must be"),
    "a list of other places": (lambda a: a.update(low=a["knots"]), "'low' has no place"),
    "a prior that is none": (lambda a: a.update({"prior.weights": a["knots"]}), "'prior.weights' has no place"),
    "objects": (lambda a: a.update(knots=np.array([{}], dtype=object)), "'knots' must hold float64"),
    "numbers that are none": (lambda a: a["knots"].__setitem__(0, np.nan), "knots must be finite"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_tampered_archive_is_refused(name):
    """Lists missing, foreign, of another type or altered."""
    change, message = ARCHIVES[name]
    made = bundle_to_document(by_hand())
    content = to_npz({**made, "checksum": checksum(made)})
    assert digits(parse_mechanism(content)) == checksum(made)
    with np.load(io.BytesIO(content)) as archive:
        arrays = {key: array.copy() for key, array in archive.items()}
    change(arrays)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    with pytest.raises(TableError, match=message):
        parse_mechanism(packed.getvalue())


def test_lists_in_the_text_of_an_archive_are_refused():
    """One member, one place."""
    made = document(by_hand())
    with pytest.raises(TableError, match="'knots', which is missing"):
        parse_mechanism(to_npz(made))


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_every_member_replaced_in_turn_is_refused_or_proved_or_broken(stride):
    """By values of all sorts and with a checksum that fits: one line, or a form whose proof says what it is."""
    values = [
        None,
        True,
        0,
        1,
        -1,
        0.5,
        -0.0,
        1e308,
        D,
        D + 1,
        2**64,
        10**400,
        "",
        "inf",
        "1",
        [],
        {},
        [[]],
        [0],
        ["1"],
    ]
    base, seen = document(wide_form(4, 6, 1.0, with_prior=True)), {"refused": 0, "read": 0}
    places = [(key,) for key in base if key != "checksum"] + [
        (key, j) for key, value in base.items() if isinstance(value, list) for j in range(len(value))
    ]
    places += [("prior", key) for key in base["prior"]] + [("provenance", key) for key in base["provenance"]]
    for number, (place, value) in enumerate((place, value) for place in places for value in values):
        if number % stride:
            continue
        made = json.loads(json.dumps(base))
        (made if len(place) == 1 else made[place[0]])[place[-1]] = value
        with suppress(TableError):  # what cannot be signed keeps the old checksum
            made["checksum"] = checksum(made)
        outcome = told(json.dumps(made).encode())
        assert "\n" not in outcome
        seen["read" if outcome.startswith("sha256:") else "refused"] += 1
    assert min(seen.values()) * stride > 20
