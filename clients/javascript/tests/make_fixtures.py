"""What the browser client is tested against, made by the library: `python make_fixtures.py FOLDER`.

FOLDER gets one file for each good, bad and damaged table, and `fixtures.json`, which says what the library finds in the
good ones and which reports it draws from given random words.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from faults import FAULTS, STRANGE, STRICTER, TEXTS
from optldp.designer import Prior, design
from optldp.mechanisms import TableError, TabulatedMechanism, load_mechanism, prove
from optldp.mechanisms.compact_tables import FloorForm, floor_form
from optldp.mechanisms.exactness.verification import require_private
from optldp.mechanisms.files.bundle import parse_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.sampling.geometric import digit_odds
from optldp.mechanisms.sampling.law import Words
from optldp.mechanisms.sampling.within_cell import GeometricTails
from optldp.mechanisms.table.exact_sampling import ExactLaw
from scipy import stats

ROOT = Path(__file__).parents[3]

FALSE_ALARM = 1e-6
"""Chance that a run in which all is well fails one of its chi-square tests."""

POOLED_BELOW = 25
"""Outputs expected less often are counted together, so that the chi-square law holds in its far tail."""

MUTANT_STRIDE = 3
"""Every third of the library's changed documents is enough here, and takes two seconds."""

BYTE_ORDER_MARK = "\ufeff"

REPORTS = 100_000
WORDS = 80
"""Random words for one report: knot, output, and at most 64 digits of a geometric number."""

EDGE = np.array([0, 2**11 - 1, 2**11, 2**53, 2**63, 2**64 - 2**11, 2**64 - 1], dtype=np.uint64)
"""Words in which a wrong shift or a wrong comparison shows."""


def load_documents(name: str) -> Any:
    """A module of documents that all readers are tested with, from the library's own tests."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(f"tests.mechanisms.{name}")
    finally:
        sys.path.remove(str(ROOT))


def judged_mutants() -> list[tuple[str, str, bool]]:
    """Changed documents by name, each with the library's verdict: whether it is an exact table and private."""
    judged = []
    for name, content in load_documents("document_mutants").mutants(MUTANT_STRIDE):
        text = content.decode(errors="replace")
        if text.encode() == content and not text.startswith(BYTE_ORDER_MARK):  # what a browser hands over as text
            judged.append((name, text, is_private(content)))
    return judged


def is_private(content: bytes) -> bool:
    """Whether the library takes the bytes of a file as an exact table."""
    try:
        made = parse_mechanism(content)
        if isinstance(made, FloorForm):
            made.require_private()
            return True
        if not isinstance(made, TabulatedMechanism):
            return False
        require_private(made)
    except TableError:
        return False
    return made.exact


def numbers_to_spell() -> list[float]:
    """Doubles of all sizes, and those beside powers of ten, where the two languages change to an exponent."""
    every = np.random.default_rng(3).integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    powers = 10.0 ** np.arange(-25, 30)
    beside = [powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf), -powers, [0.0, 5e-324, 4.0, -0.25]]
    return [*every[np.isfinite(every)].tolist(), *np.concatenate(beside).tolist()]


def loaded(path: Path) -> TabulatedMechanism:
    """The table in a file, or the one that its floor form expands to."""
    made = load_mechanism(path)
    if isinstance(made, FloorForm):
        return made.expand()
    assert isinstance(made, TabulatedMechanism), made
    return made


def designed_table() -> TabulatedMechanism:
    """An optimal table as a deployment would have it: many outputs, a prior, a certificate."""
    values = np.random.default_rng(1).lognormal(10.5, 0.6, 5000).clip(0, 200_000)
    prior = Prior.from_data(values, domain=(0, 200_000), knots=33, source="public")
    return design(prior, 1.0).mechanism


def tails_with_bias(documents: Any, bias: float) -> dict[str, Any]:
    """A table with geometric tails that claims to be unbiased on [-1.425, 1.425], and is off by that much."""
    made = documents.of_table(documents.lattice())
    del made["checksum"]
    return documents.document(**made | {"knots": [-1.425, 1.425 + bias], "provenance": documents.UNBIASED})


def inside(table: TabulatedMechanism, share: float) -> float:
    """A value that lies in an interval near that share of the domain, off its knots."""
    low, high = table.domain
    return low + share * (high - low)


def critical_value(table: TabulatedMechanism, value: float, alarm: float) -> dict[str, Any]:
    """The output groups of a chi-square test at one value, their probabilities and the value not to be exceeded."""
    law = table.pmf([value])[0]
    rare = law * REPORTS < POOLED_BELOW
    group = np.where(rare, 0, np.cumsum(~rare))
    if law[rare].sum() * REPORTS < POOLED_BELOW:  # too few even together: they join the likeliest output
        group[rare] = group[np.argmax(law)]
    _, group = np.unique(group, return_inverse=True)
    law = np.bincount(group, weights=law)
    return {"groups": group.tolist(), "law": law.tolist(), "critical": float(stats.chi2.isf(alarm, law.size - 1))}


def scripted(words: np.ndarray) -> Words:
    """A source of randomness that gives these words and no others."""
    left = iter(words)
    return lambda size: np.fromiter((next(left) for _ in range(size)), np.uint64, size)


def word_near(number: int, rng: np.random.Generator) -> int:
    """A word whose upper 53 bits are that number, or one less: what a comparison with it turns on."""
    upper = min(max(number - int(rng.integers(2)), 0), 2**53 - 1)
    return (upper << 11) + int(rng.integers(2**11))


def tricky_words(law: ExactLaw, value: float, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Words for one report: random ones, edges, and those at which knot, output and digits of a tail turn."""
    plain = rng.integers(0, 2**64 - 1, WORDS, dtype=np.uint64, endpoint=True)
    yield plain
    yield rng.choice(EDGE, WORDS)
    knots = law.knots
    k = min(int(np.searchsorted(knots, value, side="right")) - 1, knots.size - 2)
    weight = round((value - knots[k]) / (knots[k + 1] - knots[k]) * 2**53)
    border = int(rng.choice(law.cumulative[rng.integers(knots.size)]))
    odds = digit_odds(law.within.ratio) if isinstance(law.within, GeometricTails) else []
    for numbers in ([weight, border], [weight, 0, *odds]):
        words = plain.copy()
        words[: len(numbers)] = [word_near(number, rng) for number in numbers]
        yield words


def scripted_draws(table: TabulatedMechanism, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Values, random words (in hexadecimal) and the reports that the library makes of them."""
    law = ExactLaw.of(table.knots, table.low, table.high, table.numerators, table.within)
    knots = table.knots
    values = [knots[0], knots[-1], knots[1], np.nextafter(knots[1], knots[0]), *rng.uniform(knots[0], knots[-1], 30)]
    draws = []
    for value in values:
        for words in tricky_words(law, value, rng):
            report = law.draw(np.array([value]), scripted(words))
            draws.append({"value": value, "words": [f"{word:x}" for word in words], "report": float(report[0])})
    return draws


def facts(table: TabulatedMechanism, value: float, alarm: float, rng: np.random.Generator) -> dict[str, Any]:
    """What the client must find, and what it must draw, for one good table."""
    proof = prove(table)
    return {
        "tightest": proof.output,
        "largest": proof.largest,
        "smallest": proof.smallest,
        "limit": str(proof.limit * 2**128),
        "value": value,
        "row": table.pmf([value])[0].tolist(),
        "draws": scripted_draws(table, rng),
        **critical_value(table, value, alarm),
    }


def damaged(text: str, old: str | None, new: str) -> str:
    """The text with one thing replaced; an empty replacement of a part cuts the file off there."""
    if old is None:
        return new
    assert old in text, old
    return text[: text.index(old)] if new == "" else text.replace(old, new, 1)


def require_refusal(name: str, path: Path) -> None:
    """Raise AssertionError where the library takes a table that the client is to refuse."""
    try:
        loaded(path)
    except TableError:
        return
    assert name in STRICTER or "promise" in json.loads(path.read_text()), f"the library accepts {name!r}"


def main(folder: Path) -> None:
    """Write all files."""
    documents, forms = load_documents("exact_documents"), load_documents("floor_forms")
    strange = documents.document(units="\u20ac \U0001f600", provenance=STRANGE, knots=[-0.0, 10])
    good = {**documents.GOOD, "strange names": strange, "optimal": documents.of_table(designed_table())}
    good["tails, 0.7e-12 of bias"] = tails_with_bias(documents, 2e-12)
    short = {f"floor form: {name}": form for name, form in forms.forms().items() if form.places.size > 1}
    short["floor form: optimal"] = floor_form(designed_table())
    good |= {name: forms.document(form) for name, form in short.items()}
    rng = np.random.default_rng(3)
    said: dict[str, Any] = {"good": {}, "bad": {}}
    for number, (name, document) in enumerate(sorted(good.items())):
        path = folder / f"good-{number}.json"
        path.write_text(json.dumps(document))
        table = loaded(path)
        alarm = FALSE_ALARM / len(good) / 3  # in Node, in Python and in the browser
        said["good"][name] = {"file": path.name, **facts(table, inside(table, 0.37), alarm, rng)}
    plain = json.dumps(documents.document())
    bad = {name: (json.dumps(document), "") for name, (document, _) in documents.BAD.items()}
    bad["tails, 1.4e-12 of bias"] = json.dumps(tails_with_bias(documents, 4e-12)), "claims to be unbiased must be so"
    bad |= {name: (json.dumps(documents.document(**changes)), says) for name, (changes, says) in FAULTS.items()}
    bad |= {name: (json.dumps(made), "must promise pure epsilon-LDP") for name, made in documents.PROMISED.items()}
    bad |= {name: (damaged(plain, old, new), says) for name, (old, new, says) in TEXTS.items()}
    for name, (changes, _) in forms.BAD.items():
        made = {**forms.document(forms.by_hand()), **changes}
        with suppress(TableError):  # what cannot be signed keeps the old checksum
            made["checksum"] = checksum(made)
        bad[f"floor form: {name}"] = json.dumps(made), ""
    over = forms.by_hand(ratio=forms.forms()["at the limit"].ratio + 1)
    bad["floor form: a unit over the limit"] = json.dumps(forms.document(over)), "ratio must be proved at most e^1.1"
    for number, (name, (text, says)) in enumerate(sorted(bad.items())):
        path = folder / f"bad-{number}.json"
        path.write_text(text)
        said["bad"][name] = {"file": path.name, "says": says}
        require_refusal(name, path)
    budgets = [1e-6, 0.1, 1, 1.1, 2.5, 16]
    said["exponentials"] = [[budget, str(exponential_below(budget) * 2**128)] for budget in budgets]
    said["spellings"] = [[number, repr(number)] for number in numbers_to_spell()]
    (folder / "fixtures.json").write_text(json.dumps(said))
    (folder / "mutants.json").write_text(json.dumps(judged_mutants()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
