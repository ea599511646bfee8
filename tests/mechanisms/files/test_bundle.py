"""Bundles on disk: what is written comes back, and whatever was damaged or altered is refused in one line."""

import json

import numpy as np
import pytest
from optldp.mechanisms import (
    AttributeSampling,
    CategoricalMechanism,
    Categories,
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    duchi,
    laplace,
    load_mechanism,
    load_table,
    make_exact,
    piecewise,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical import (
    CategoricalTable,
    LocalHashing,
    UnaryEncoding,
    basic_rappor,
    categorical_grr,
    optimised_unary,
)
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.mechanisms.files import bundle as module
from optldp.mechanisms.files.bundle import bundle_kinds, bundle_to_document, document_to_mechanism, parse_mechanism
from optldp.mechanisms.files.checksum import checksum

D = 2**53
LABELS = ["plain", "Zürich €", "a,b", '"quoted"', "7"]
ORIGIN = Provenance("made", {"list": [1, "a", None], "share": 0.5}, "9", {"gap": 1e-9})

BUNDLES: dict[str, CategoricalMechanism | AttributeSampling] = {
    "grr": categorical_grr(LABELS, 1.0),
    "designed": CategoricalTable.from_probabilities(LABELS[:2], [[0.7, 0.3], [0.4, 0.6]], 0.8, provenance=ORIGIN),
    "rappor": basic_rappor(LABELS, 0.3),
    "oue": optimised_unary(LABELS, 16.0),
    "olh": local_hashing(LABELS, 2.0),
    "subset": subset_selection(LABELS, 0.5),
    "points": projective_geometry(LABELS, 1.0),
    "attributes": AttributeSampling.of(
        {
            "age": make_exact(piecewise([18.0, 40.0, 90.0], 0.5)).mechanism,
            "pay, yearly": exact(laplace([0.0, 1e5], 0.3)),
            "hours": exact(duchi([0.0, 80.0], 0.5)),
        },
        2,
        1.0,
    ),
}


@pytest.fixture
def saved(tmp_path):
    """Local hashing on disk."""
    path = tmp_path / "m.json"
    save_bundle(BUNDLES["olh"], path)
    return path


@pytest.fixture
def several(tmp_path):
    """Attributes on disk."""
    path = tmp_path / "several.json"
    save_bundle(BUNDLES["attributes"], path)
    return path


def rewrite(path, change, *, sign=True):
    """Alter the document on disk; sign it anew, as a careful tamperer would, where it can be signed."""
    document = json.loads(path.read_text())
    document = change(document) or document
    if sign and "checksum" in document:
        document["checksum"] = checksum(document)
    path.write_text(json.dumps(document))


def some_reports(mechanism) -> np.ndarray:
    """Simulated, with the same random numbers every time."""
    rng = np.random.default_rng(1)
    if isinstance(mechanism, AttributeSampling):
        return np.stack(list(mechanism.sample(np.full((50, 3), 40.0), rng).values()))
    return mechanism.sample(mechanism.categories.labels * 10, rng)


def refusal(path) -> str:
    with pytest.raises(TableError) as caught:
        load_mechanism(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"mechanism {str(path)!r} refused: ")
    return message


class TestRoundTrip:
    @pytest.mark.parametrize("name", BUNDLES)
    def test_a_bundle_comes_back_as_the_same_document_and_the_same_draws(self, tmp_path, name):
        """Labels beyond ASCII, commas and quotes, provenance and certificate included."""
        made = BUNDLES[name]
        save_bundle(made, tmp_path / "m.json")
        again = load_mechanism(tmp_path / "m.json")
        assert isinstance(again, Bundle)
        assert type(again) is type(made)
        assert checksum(bundle_to_document(again)) == checksum(bundle_to_document(made))
        np.testing.assert_array_equal(some_reports(again), some_reports(made))

    def test_what_is_written_is_to_be_read_by_eye(self, several, tmp_path):
        """A line for every member and matrix row, inside the tables too."""
        save_bundle(BUNDLES["grr"], tmp_path / "m.json")
        lines = (tmp_path / "m.json").read_text().splitlines()
        for row in json.loads((tmp_path / "m.json").read_text())["numerators"]:
            assert f"  {json.dumps(row)}" in (line.rstrip(",") for line in lines)
        text = several.read_text()
        rows = json.loads(text)["mechanisms"][0]["numerators"]
        assert all(f"    {json.dumps(row)}" in text for row in rows)

    def test_the_checksum_is_over_all_members_and_members_have_none(self, several):
        document = json.loads(several.read_text())
        assert document["checksum"] == checksum(document)
        assert [table["format"] for table in document["mechanisms"]] == [
            "optldp-table/2", "optldp-table/2", "optldp-table/2",
        ]  # fmt: skip
        assert not any("checksum" in table for table in document["mechanisms"])

    def test_tables_are_loaded_as_well(self, tmp_path):
        """In either form, so that a client needs one function only."""
        for suffix in (".json", ".npz"):
            save_table(exact(piecewise([0.0, 1.0], 1.0)), tmp_path / f"t{suffix}")
            table = load_mechanism(tmp_path / f"t{suffix}")
            assert isinstance(table, TabulatedMechanism)
            np.testing.assert_array_equal(table.probabilities, load_table(tmp_path / f"t{suffix}").probabilities)

    def test_every_kind_goes_by_its_own_name(self):
        assert {"categorical-table", "unary-encoding", "local-hashing", "subset-selection", "attributes"} <= set(
            bundle_kinds()
        )
        assert all(name in kind.names() for name, kind in bundle_kinds().items())


class TestWriting:
    def test_one_that_is_not_private_is_never_written(self, tmp_path):
        """Of every kind, one unit beyond its budget."""
        good = local_hashing("abc", 1.0)
        oue = optimised_unary("abc", 1.0)
        leaky = (
            LocalHashing(good.categories, 1.0, ORIGIN, good.n_values, good.own_value + good.n_values - 1),
            UnaryEncoding(oue.categories, 1.0, ORIGIN, oue.own_one, oue.other_one - 1),
            CategoricalTable(Categories("ab"), 1.0, ORIGIN, np.array([[3 * D // 4, D // 4], [D // 4, 3 * D // 4]])),
            AttributeSampling.of({"a": TabulatedMechanism(*_leaky_table(), exact=True)}, 1, 1.0),
        )
        for made in leaky:
            with pytest.raises(TableError, match="the log-ratio must be at most 1, got 1"):
                save_bundle(made, tmp_path / "m.json")
            assert list(tmp_path.iterdir()) == []

    def test_a_file_is_replaced_whole_or_not_at_all(self, saved, monkeypatch):
        """Even if the disk fails in the middle: the old bundle stays, and nothing else."""
        before = saved.read_bytes()

        def fail(document):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(module, "to_json", fail)
        with pytest.raises(InputError, match="No space left"):
            save_bundle(BUNDLES["grr"], saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    @pytest.mark.parametrize("name", ["m.npz", "m", "m.txt"])
    def test_other_suffixes_are_refused(self, tmp_path, name):
        with pytest.raises(InputError, match=r"a bundle's file must end in \.json"):
            save_bundle(BUNDLES["grr"], tmp_path / name)

    def test_a_place_that_cannot_be_written_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="must be writable"):
            save_bundle(BUNDLES["grr"], tmp_path / "missing" / "m.json")
        (tmp_path / "folder.json").mkdir()
        with pytest.raises(InputError, match="got the folder"):
            save_bundle(BUNDLES["grr"], tmp_path / "folder.json")


def _leaky_table():
    table = exact(duchi([0.0, 1.0], 1.1))
    return table.knots, table.low, table.high, table.probabilities, 1.0


class TestDamage:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "whole JSON text"),
            (b"\xff\xfe", "whole JSON text"),
            (b"3", "one JSON object, got int"),
            (b"[]", "one JSON object, got list"),
            (b"{}", "key 'format', which is missing"),
            (b"[" * 100_000, "whole JSON text"),
            (b'{"a":' * 10_000, "nested at most 16 deep, got deeper"),
            (b"PK\x03\x04 not a zip", "whole npz archive"),
            (b'{"format": "optldp-bundle/1", "format": "optldp-table/1"}', "must not repeat, got 'format' twice"),
            (b'{"format": "optldp-bundle/2"}', "key 'checksum', which is missing"),
            (b'{"format": "optldp-bundle/1"}', "kind must be one of .*, got None"),
            (b'{"format": ["optldp-bundle/1"], "checksum": ""}', "format must be"),
        ],
    )
    def test_what_is_no_mechanism_at_all_is_refused(self, tmp_path, content, message):
        path = tmp_path / "m.json"
        path.write_bytes(content)
        with pytest.raises(TableError, match=message):
            load_mechanism(path)

    @pytest.mark.parametrize("name", BUNDLES)
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
    def test_a_truncated_file_is_refused(self, tmp_path, name, share):
        path = tmp_path / "m.json"
        save_bundle(BUNDLES[name], path)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        assert "must be whole JSON text" in refusal(path)

    @pytest.mark.parametrize("name", BUNDLES)
    def test_a_flipped_bit_anywhere_is_refused_or_harmless(self, tmp_path, name):
        """Harmless is another way of writing the same number or space."""
        path = tmp_path / "m.json"
        save_bundle(BUNDLES[name], path)
        digits = checksum(bundle_to_document(BUNDLES[name]))
        content, rng, refused = path.read_bytes(), np.random.default_rng(3), 0
        for place in rng.integers(0, len(content), 200):
            altered = bytearray(content)
            altered[place] ^= 1 << rng.integers(0, 7)
            path.write_bytes(altered)
            try:
                again = load_mechanism(path)
            except TableError:
                refused += 1
            else:
                assert isinstance(again, Bundle)
                assert checksum(bundle_to_document(again)) == digits
        assert refused > 150

    def test_an_altered_member_is_refused_by_the_checksum(self, saved, several):
        rewrite(saved, lambda d: d["categories"].reverse(), sign=False)
        assert "checksum must be sha256:" in refusal(saved)
        assert refusal(saved).endswith("the file was altered")
        rewrite(several, lambda d: d["mechanisms"][0].update(units="years"), sign=False)
        assert "checksum must be sha256:" in refusal(several)

    @pytest.mark.parametrize("value", [None, 7, "", "sha256:0", ["x" * 5000]])
    def test_a_checksum_of_another_kind_is_refused(self, saved, value):
        rewrite(saved, lambda d: d.update(checksum=value), sign=False)
        assert "got " in refusal(saved)
        assert len(refusal(saved)) < 500 + len(str(saved))
        rewrite(saved, lambda d: d.__delitem__("checksum"), sign=False)
        assert "got None" in refusal(saved)

    def test_signed_anew_a_bundle_beyond_its_budget_is_refused_all_the_same(self, saved, several, tmp_path):
        """The checksum protects nobody: the numbers are looked at."""
        rewrite(saved, lambda d: d.update(epsilon=1.9))
        assert "the log-ratio must be at most 1.9, got 1.99" in refusal(saved)
        rewrite(several, lambda d: d["mechanisms"][2].update(epsilon=0.4))
        assert "attribute 'hours': the log-ratio must be at most 0.4" in refusal(several)
        for name, change in (
            ("oue", lambda d: d.update(other_one=d["other_one"] - 1)),
            ("rappor", lambda d: d.update(own_one=d["own_one"] + 2)),
            ("subset", lambda d: d.update(own_chosen=d["own_chosen"] + 1)),
            ("grr", move_units),
        ):
            save_bundle(BUNDLES[name], tmp_path / "m.json")
            rewrite(tmp_path / "m.json", change)
            assert "the log-ratio must be at most" in refusal(tmp_path / "m.json")

    def test_attributes_that_spend_more_than_declared_are_refused(self, several):
        rewrite(several, lambda d: d.update(epsilon=0.99))
        assert "the epsilons of any 2 attributes must sum to at most 0.99, got 1.0" in refusal(several)
        rewrite(several, lambda d: d.update(epsilon=1.0, sampled=3))
        assert "the epsilons of any 3 attributes must sum to at most 1, got 1.3" in refusal(several)


def move_units(document):
    row = document["numerators"][0]
    row[0], row[1] = row[0] + 1000, row[1] - 1000


def set_(**changes):
    return lambda d: d | changes


class TestTypes:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (set_(kind="unary-encoding"), "must have the key 'own_one', which is missing"),
            (set_(kind="magic"), "kind must be one of categorical-table, .*, got 'magic'"),
            (set_(kind=["local-hashing"]), "kind must be one of"),
            (set_(kind="x" * 5000), "kind must be one of"),
            (set_(extra=1), "only, got 'extra'"),
            (set_(categories="abc"), "categories must be a list of texts"),
            (set_(categories=["a", 1]), "categories must be a list of texts"),
            (set_(categories=["a"]), "must be 2 to 1048576 categories, got 1"),
            (set_(categories=["a", "a"]), "must differ, got 'a' twice"),
            (set_(epsilon="2"), "epsilon must be a number, got '2'"),
            (set_(epsilon=True), "epsilon must be a number, got True"),
            (set_(epsilon=10**400), "epsilon must hold numbers that fit in a double"),
            (set_(epsilon=-1), "epsilon must be positive"),
            (set_(n_values=4.0), "n_values must be a whole number, got 4.0"),
            (set_(n_values=6), "prime power of elements, at most 256, got 6"),
            (set_(n_values=10**30), "prime power"),
            (set_(own_value=2.0**52), "own_value must be a whole number, got"),
            (set_(own_value=10**30), "own_value must be a whole number that leaves"),
            (set_(own_value=None), "own_value must be a whole number, got None"),
            (set_(provenance=None), "provenance must be an object, got NoneType"),
            (set_(provenance={"method": "x"}), "provenance must have the key 'parameters', which is missing"),
        ],
    )
    def test_members_of_hashing_of_another_type_are_named(self, saved, change, message):
        rewrite(saved, change, sign=False)
        with pytest.raises(TableError, match=message):
            load_mechanism(saved)
        assert len(refusal(saved)) < 600 + len(str(saved))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (set_(attributes="abc"), "attributes must be a list, got str"),
            (set_(attributes=["a", "a", "b"]), "attributes must differ, got 'a' twice"),
            (set_(attributes=["a", 1, "b"]), "attributes must have names, got 1"),
            (set_(attributes=["a", ["c"], "b"]), "attributes must have names, got"),
            (set_(attributes=["a"]), "every attribute needs one table, got 3 for 1"),
            (set_(mechanisms={}), "mechanisms must be a list, got dict"),
            (set_(mechanisms=[1, 2, 3]), "a mechanism must be an object, got int"),
            (set_(sampled=1.0), "sampled must be a whole number from 1 to 3, got 1.0"),
            (set_(sampled=10**30), "sampled must be a whole number from 1 to 3, got 1000"),
            (set_(sampled="all"), "got 'all'"),
            (lambda d: d["mechanisms"][0].update(format="optldp-table/3"), "format must be 'optldp-bundle/1', got"),
            (lambda d: d["mechanisms"][0].update(checksum="x"), "must have no checksum of its own"),
            (lambda d: d["mechanisms"][0].__delitem__("knots"), "must have the key 'knots', which is missing"),
        ],
    )
    def test_members_of_attributes_of_another_type_are_named(self, several, change, message):
        rewrite(several, change, sign=False)
        with pytest.raises(TableError, match=message):
            load_mechanism(several)

    def test_attributes_must_be_tables_of_numbers(self, several):
        """Not of categories, nor attributes again."""
        for other in ("olh", "attributes"):
            inner = json.loads(json.dumps(bundle_to_document(BUNDLES[other]), default=lambda a: a.tolist()))
            rewrite(several, lambda d, inner=inner: d["mechanisms"].__setitem__(0, inner), sign=False)
            assert "attribute 'age' must have a table of numbers, got " in refusal(several)

    @pytest.mark.parametrize("depth", [50, 1000])
    def test_bundles_within_bundles_without_end_are_refused(self, tmp_path, depth):
        """Deep enough for the stack of Python's reader or of ours to end, and less deep."""
        start, end = (
            '{"format": "optldp-bundle/1", "kind": "attributes", "attributes": ["a"], "mechanisms": [',
            ('], "sampled": 1, "epsilon": 1}'),
        )
        path = tmp_path / "m.json"
        path.write_text(start * depth + end * depth)
        assert "needs one table" in refusal(path) or "whole JSON text" in refusal(path) or "deeper" in refusal(path)

    def test_a_document_without_end_for_our_reader_is_refused(self, monkeypatch):
        """Python's reader may stand more than ours."""
        monkeypatch.setattr(module, "document_to_mechanism", _endless)
        with pytest.raises(TableError, match="must not be nested deeper than a bundle is"):
            parse_mechanism(b'{"format": "optldp-bundle/1"}')

    def test_a_missing_file_and_a_large_one_are_refused(self, tmp_path, saved, monkeypatch):
        with pytest.raises(InputError, match="the mechanism must be a readable file"):
            load_mechanism(tmp_path / "none.json")
        with pytest.raises(InputError, match="the mechanism must be a readable file"):
            load_mechanism(tmp_path)
        monkeypatch.setattr("optldp.mechanisms.files.json_text.MAX_JSON_BYTES", 100)
        with pytest.raises(TableError, match="must be at most 100 bytes long"):
            load_mechanism(saved)

    def test_only_objects_are_mechanisms(self):
        for other in (None, 3, "x", [1]):
            with pytest.raises(TableError, match="a mechanism must be an object"):
                document_to_mechanism(other)


def _endless(document):
    return _endless(document)
