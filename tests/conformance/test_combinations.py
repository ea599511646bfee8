"""What nobody wrote by hand: combinators of all kinds, and of each other, work or are refused with the reason."""

import pickle
from collections.abc import Callable, Mapping
from functools import singledispatch
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from optldp.estimators import count
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    InputError,
    Metric,
    PersonalisedMechanism,
    TableError,
    gaussian,
    geometric,
    grr,
    load_mechanism,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.compact_tables import form_over
from optldp.mechanisms.files.identifier import file_checksum
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.sampling.random_words import random_words
from optldp.mechanisms.spaces.categories import Categories
from optldp.mechanisms.spaces.columns import Columns
from optldp.mechanisms.spaces.interval import Interval
from optldp.mechanisms.spaces.levels import ValuesAtLevels
from optldp.mechanisms.spaces.pairs import SetsOfPairs
from optldp.mechanisms.spaces.space import Space
from optldp.mechanisms.third_party import adopt

from ..small_channels import JOBS, KNOTS, save

Make = Callable[[float], Any]
"""A mechanism of a budget."""

SIMPLE: Mapping[str, Make] = {
    "numbers": lambda epsilon: make_exact(grr(KNOTS, epsilon)).mechanism,
    "intervals": lambda epsilon: make_exact(piecewise(KNOTS, epsilon)).mechanism,
    "delta": lambda epsilon: make_exact(gaussian(KNOTS, Approximate(epsilon, 1e-6))).mechanism,
    "unit": lambda epsilon: make_exact(geometric(KNOTS, Metric(0.1 * epsilon))).mechanism,
    "floor": lambda epsilon: form_over(KNOTS[::2], [-60.0, 30.0, 120.0], [0.2, 0.1, 0.2], epsilon),
    "categories": lambda epsilon: categorical_grr(JOBS, epsilon),
    "bits": lambda epsilon: optimised_unary(JOBS, epsilon),
    "hashes": lambda epsilon: local_hashing(JOBS, epsilon, n_values=2),
    "subsets": lambda epsilon: subset_selection(JOBS, epsilon, n_chosen=2),
    "seeded": lambda epsilon: adopt("olh", JOBS, epsilon),
}

COMBINED: Mapping[str, Callable[[Make], Make]] = {
    "levels": lambda make: lambda epsilon: PersonalisedMechanism([make(epsilon / 2), make(epsilon)]),
    "protected levels": lambda make: lambda epsilon: PersonalisedMechanism([make(epsilon / 2), make(epsilon)], 1.0),
    "attributes": lambda make: lambda epsilon: AttributeSampling(["pay", "more"], [make(epsilon)] * 2, 1, epsilon),
    "pairs": lambda make: lambda epsilon: key_value_unary(JOBS, make(epsilon), epsilon),
    "pairs of one key": lambda make: lambda epsilon: key_value_response(JOBS, make(epsilon), epsilon),
}

LEVELS = {"numbers", "intervals", "categories", "bits", "hashes", "subsets", "seeded"} | set(COMBINED) - {
    "levels",
    "protected levels",
}
MADE_OF: Mapping[str, set[str]] = {
    "levels": LEVELS,
    "protected levels": LEVELS,
    "attributes": {"numbers", "intervals"},
    "pairs": {"numbers", "intervals", "floor"},
    "pairs of one key": {"numbers", "intervals", "floor"},
}
"""What each may be made of; all else is refused."""

CASES = [*product(COMBINED, SIMPLE), *product(COMBINED, COMBINED, SIMPLE)]


@singledispatch
def value_of(space: Space) -> Any:
    """A value of one user, as a ledger takes it."""
    raise NotImplementedError(f"a space of a new form, {type(space).__name__}, needs a value here")


value_of.register(Interval, lambda space: space.low)
value_of.register(Categories, lambda space: space.labels[0])
value_of.register(Columns, lambda space: {name: value_of(one) for name, one in space.intervals.items()})
value_of.register(SetsOfPairs, lambda space: {space.keys.labels[0]: space.interval.low})
value_of.register(ValuesAtLevels, lambda space: (value_of(space.values), 1))


def made_of(names: tuple[str, ...]) -> Any:
    """The mechanism of combinators and a simple one, from the outermost, of budget 2."""
    *combined, simple = names
    make = SIMPLE[simple]
    for name in reversed(combined):
        make = COMBINED[name](make)
    return make(2.0)


def works(names: tuple[str, ...]) -> bool:
    """Whether each combinator may be made of what is next to it."""
    return all(inner in MADE_OF[outer] for outer, inner in pairwise(names))


def sent_through(made: Any) -> Any:
    """The report of one user."""
    words, content = random_words(np.random.default_rng(1)), made.inputs.content(value_of(made.inputs))
    return made.draw(made.inputs.sampled(made.inputs.of_content(content), words), words)


def refusal(work: Callable[[], object]) -> str | None:
    """The one line of a refusal that says what is wanted and what was given; None where there is none."""
    try:
        work()
    except (InputError, TableError) as error:
        said = str(error)
        assert "\n" not in said
        assert " must " in said or " are for " in said, said
        assert " got " in said, said
        return said
    return None


@pytest.mark.parametrize("names", CASES, ids=" of ".join)
def test_a_combination_works_in_all_that_a_channel_does_or_is_refused_when_it_is_made(names, tmp_path):
    """Once it is made its file, its reports as text and its counts work; nothing dies of what a part lacks."""
    said = refusal(lambda: made_of(names))
    assert (said is None) == works(names), said
    if said is not None:
        return
    made = made_of(names)
    assert made.failures() == ()
    save(made, tmp_path / "made.json")
    assert file_checksum(load_mechanism(tmp_path / "made.json")) == file_checksum(made)
    if names[-1] == "seeded":
        with pytest.raises(InputError, match="draws none"):
            sent_through(made)
        return
    sent = sent_through(made)
    (text,) = made.to_text(sent)
    assert made.to_text(made.from_text([text])) == [text]
    counts = count(made, sent)
    assert (counts + counts).n_users == 2
    assert pickle.loads(pickle.dumps(counts)).n_users == 1


MATCHED = {"numbers", "intervals", "delta", "unit", "floor", "attributes"}
"""Whose services are counted together, by user."""

OF_SERVICES = [names for names in [(name,) for name in SIMPLE] + CASES if works(names) and names[-1] != "seeded"]


@pytest.mark.parametrize("names", OF_SERVICES, ids=" of ".join)
def test_services_of_any_mechanism_are_counted_together_or_refused(names):
    """One user's reports to two services; where users cannot be matched a service is refused for what it is."""
    made = made_of(names)
    sent = sent_through(made)
    said = refusal(lambda: count([("web", made, sent), ("app", made, sent)]))
    assert (said is None) == (names[0] in MATCHED), said
    assert said is None or "whose users are matched" in said
