"""What the stochastic regression suite draws from: every mechanism and bundle, at any budget, on hostile domains."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import regression_checks as checks
from optldp.designer import CategoricalPrior, Prior, design
from optldp.designer.methods.lattice import lattice_mechanism
from optldp.designer.objectives import Loss
from optldp.mechanisms import (
    FAMILIES,
    AttributeSampling,
    PersonalisedMechanism,
    TabulatedMechanism,
    load_mechanism,
    make_exact,
    prove,
    save_bundle,
    save_table,
)
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from optldp.mechanisms.combinators.attribute_sampling import attribute_budget
from optldp.mechanisms.compact_tables import FloorForm, floor_form
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.integers.numerators import DENOMINATOR
from optldp.mechanisms.key_value.response import key_value_response
from optldp.mechanisms.key_value.unary import key_value_unary
from optldp.mechanisms.promise import Metric, Ratios, Sensitive
from optldp.mechanisms.sampling.within_cell import GeometricTails, Uniform
from optldp.mechanisms.table.outputs import locate_outputs
from regression_checks import USERS, Check

Generator = np.random.Generator
Checks = Iterator[Check]

MOST_KNOTS, MOST_CATEGORIES = 6, 12


def epsilon_of(rng: Generator, most: float = 16.0) -> float:
    """A budget from 1e-6 on, evenly in its logarithm; often a round one."""
    drawn = float(np.exp(rng.uniform(np.log(1e-6), np.log(most))))
    return float(rng.choice([drawn, drawn, min(1.0, most), most, 1e-6]))


def knots_of(rng: Generator) -> np.ndarray:
    """Knots of a domain: ordinary, tiny, huge, far from zero, negative, about the least doubles, a few ulps wide."""
    steps = rng.uniform(0.05, 1.0, int(rng.integers(1, MOST_KNOTS)))
    even = np.append(0.0, np.cumsum(steps) / steps.sum())
    offset = float(rng.choice([-1, 1])) * 10.0 ** rng.uniform(-30, 30)
    ulps = np.append(0, np.cumsum(rng.integers(1, 4, steps.size)))
    domains = [
        even,
        2 * even - 1,
        -even[::-1],
        even * 10.0 ** rng.uniform(-99, 99),
        offset + ulps * np.spacing(abs(offset)),
        offset + ulps * 2.0 ** float(rng.integers(1, 40)) * np.spacing(abs(offset)),
        np.unique([0.0, 5e-324, 1e-310, 1.0]),
        np.unique([-1.0, -5e-324, 0.0, 2.0]),
        9e99 + even * 10.0 ** rng.uniform(86, 98),
    ]
    return domains[int(rng.integers(len(domains)))]


def value_of(table: TabulatedMechanism, rng: Generator) -> float:
    """A knot, or a value between."""
    low, high = table.domain
    between = min(max(low + float(rng.random()) * (high - low), low), high)
    return float(rng.choice([*table.knots, between, between, between]))


def found_where_drawn(table: TabulatedMechanism, rng: Generator) -> Check:
    """Whether a report of every output is found in that output."""
    law, size = table.within, table.low.size
    columns = np.repeat(np.arange(size), max(1, USERS // size))
    reports = law.draw_exact(table.low, table.high, columns, lambda n: rng.integers(0, 2**64 - 1, n, np.uint64, True))  # pyright: ignore[reportAttributeAccessIssue] -- exact tables have it
    found = locate_outputs(table.low, table.high, law, reports)
    return "reports are found in the outputs that they were drawn from", float(np.array_equal(found, columns))


def checked_table(table: TabulatedMechanism, rng: Generator) -> Checks:
    """Proved, found where drawn, the same after a file of either form, and drawn as it says."""
    yield "proved", float(prove(table).ok)
    yield found_where_drawn(table, rng)
    x, seed = value_of(table, rng), int(rng.integers(2**32))
    drawn = table.sample(np.full(50, x), np.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "npz"):
            save_table(table, Path(folder, f"table.{form}"))
            read = load_mechanism(Path(folder, f"table.{form}"))
            assert isinstance(read, TabulatedMechanism)
            again = read.sample(np.full(50, x), np.random.default_rng(seed))
            yield f"the same from {form}", float(np.array_equal(drawn, again))
    yield from checks.of_table(table, x, rng)


def through_a_file(bundle: Bundle, suffix: str = "json") -> Bundle:
    """The bundle as it comes back from a file; every check of a bundle is of that."""
    with tempfile.TemporaryDirectory() as folder:
        save_bundle(bundle, Path(folder, f"bundle.{suffix}"))
        read = load_mechanism(Path(folder, f"bundle.{suffix}"))
    assert isinstance(read, type(bundle))
    return read


def family(rng: Generator) -> Checks:
    name = str(rng.choice(list(FAMILIES)))
    return checked_table(make_exact(FAMILIES[name](knots_of(rng), epsilon_of(rng))).mechanism, rng)


def raw(rng: Generator) -> Checks:
    """Outputs of a few doubles, points inside cells, or tails of any step; two extreme laws and mixtures of them."""
    knots, epsilon = knots_of(rng), epsilon_of(rng)
    start = float(rng.choice([*knots, 0.0, 5e-324, -1e-308, 1e100]))
    unit = float(np.spacing(abs(start))) * float(rng.choice([1, 1, 2, 2.0**30, 2.0**52]))
    places = [start + unit * step for step in np.cumsum(rng.integers(1, 4, 8)) - 8]
    ends = [(places[k], places[k + 1]) for k in range(7) if rng.random() < 0.6]
    ends += [(point, point) for point in np.unique(rng.choice(places, 3) + unit * rng.integers(0, 2, 3))]
    law = Uniform()
    if rng.random() < 0.4:
        ratio = float(rng.choice([rng.random(), 1 - 2.0 ** -float(rng.integers(1, 54)), 1e-300]))
        law = GeometricTails(unit * float(10.0 ** rng.uniform(-3, 3)), max(ratio, 1e-9))
        ends = [(-np.inf, places[0]), *((point, point) for point in places[1:-1]), (places[-1], np.inf)]
    low, high = np.array(sorted(ends)).T
    base = rng.dirichlet(np.ones(low.size))
    other = base * np.exp(0.9 * epsilon * rng.random(low.size))
    share = np.append(np.append(0.0, rng.random(knots.size - 2)), 1.0)[:, None]
    whole = np.floor(((1 - share) * base + share * other / other.sum()) * DENOMINATOR).astype(np.int64)
    whole[:, np.argmax(base)] += DENOMINATOR - whole.sum(axis=1)
    return checked_table(TabulatedMechanism(knots, low, high, whole / DENOMINATOR, epsilon, law, exact=True), rng)


def designed(rng: Generator) -> Checks:
    knots = knots_of(rng)
    prior = Prior.on_knots(knots, rng.dirichlet(np.ones(knots.size)), source="public")
    return checked_table(make_exact(design(prior, epsilon_of(rng)).mechanism).mechanism, rng)


def designed_for_pairs(rng: Generator) -> Checks:
    """A table for a loss under a random matrix of log-ratios, proved again from its file, and drawn as it says."""
    knots = np.cumsum(rng.uniform(0.05, 1.0, int(rng.integers(3, MOST_KNOTS + 2))))
    ratios = rng.uniform(0.05, 4.0, (knots.size, knots.size)) * (1 - np.eye(knots.size))
    ratios[(rng.random(ratios.shape) < 0.3) & (ratios > 1)] = np.inf
    ratios[0, 1] = 0.5
    prior = Prior.on_knots(knots, rng.dirichlet(np.ones(knots.size)), source="public")
    promises = [
        Ratios(ratios.tolist()),
        Metric(float(rng.uniform(0.1, 4))),
        Sensitive(1.0, [True, *[False] * (knots.size - 1)]),
    ]
    table = design(prior, promises[int(rng.integers(3))], objective=Loss("absolute"), outputs=knots).mechanism
    with tempfile.TemporaryDirectory() as folder:
        save_table(table, Path(folder, "table.json"))
        read = load_mechanism(Path(folder, "table.json"))
    assert isinstance(read, TabulatedMechanism)
    yield "proved", float(prove(read).ok and read.promise == table.promise)
    x = float(rng.choice(knots))
    yield from checks.outputs(f"at {x!r}", read.output_index(read.sample(np.full(USERS, x), rng)), read.pmf(x)[0])


def floors(rng: Generator) -> Checks:
    """The floor form of a design on a domain that doubles tell apart, from either kind of file."""
    steps = rng.uniform(0.05, 1.0, int(rng.integers(1, MOST_KNOTS)))
    even = np.append(0.0, np.cumsum(steps) / steps.sum()) + float(rng.choice([0.0, -0.5, rng.uniform(-30, 30)]))
    knots = even * 10.0 ** rng.uniform(-30, 30)
    prior = Prior.on_knots(knots, rng.dirichlet(np.ones(knots.size)), source="public")
    form = floor_form(design(prior, epsilon_of(rng)).mechanism)
    made, again = (through_a_file(form, suffix) for suffix in ("json", "npz"))
    assert isinstance(made, FloorForm)
    table, proof = made.expand(), made.proof()
    yield "proved as its table is", float(proof.ok and proof == prove(table) == again.proof())  # pyright: ignore[reportAttributeAccessIssue] -- of the kind saved
    x, seed = value_of(table, rng), int(rng.integers(2**32))
    reports, theirs = (each.sample(np.full(USERS, x), np.random.default_rng(seed)) for each in (made, table))
    yield "the same reports as its table's", float(np.array_equal(reports, theirs))
    yield from checks.outputs(f"at {x!r}", made.output_index(reports), made.pmf(x)[0])


def lattice(rng: Generator) -> Checks:
    knots = np.linspace(*np.sort(knots_of(rng))[[0, -1]], int(rng.integers(3, 8)))
    prior = Prior.on_knots(knots, rng.dirichlet(np.ones(knots.size)), source="public")
    return checked_table(make_exact(lattice_mechanism(prior, epsilon_of(rng))).mechanism, rng)


def names_of(rng: Generator) -> list[str]:
    return [f"c{k}" for k in range(int(rng.integers(2, MOST_CATEGORIES)))]


ORACLES: list[Callable] = [
    categorical_grr, basic_rappor, optimised_unary, local_hashing, subset_selection, projective_geometry,
]  # fmt: skip


def oracle(rng: Generator) -> Checks:
    names = names_of(rng)
    made = through_a_file(ORACLES[int(rng.integers(len(ORACLES)))](names, epsilon_of(rng)))
    return checks.of_categories(made, int(rng.integers(len(names))), rng)  # pyright: ignore[reportArgumentType] -- of the kind saved


def designed_categories(rng: Generator) -> Checks:
    names = names_of(rng)[:6]
    made = design(CategoricalPrior(names, rng.dirichlet(np.ones(len(names)))), epsilon_of(rng, 8.0)).mechanism
    return checks.of_categories(made, int(rng.integers(len(names))), rng)


def pairs(rng: Generator) -> Checks:
    knots, epsilon, padding = knots_of(rng), epsilon_of(rng), int(rng.integers(0, 4))
    value = FAMILIES[str(rng.choice(["duchi", "grr", "three-outputs"]))](knots, epsilon * float(rng.uniform(0.1, 1)))
    make = key_value_unary if rng.random() < 0.5 else key_value_response
    made = through_a_file(make(names_of(rng), value, epsilon, padding=padding))
    x, key = value_of(made.value, rng), int(rng.integers(len(made.keys)))  # pyright: ignore[reportAttributeAccessIssue] -- of the kind saved
    return checks.of_pairs(made, key, x, rng)  # pyright: ignore[reportArgumentType] -- of the kind saved


def personalised(rng: Generator) -> Checks:
    budgets = np.unique([epsilon_of(rng) for _ in range(3)])
    levels: list = [categorical_grr(["a", "b", "c"], float(epsilon)) for epsilon in budgets]
    values = ["a", "b", "c"]
    if rng.random() < 0.5:
        knots = knots_of(rng)
        levels = [make_exact(FAMILIES["duchi"](knots, float(epsilon))).mechanism for epsilon in budgets]
        values = knots.tolist()
    made = PersonalisedMechanism(levels, float(rng.choice([epsilon_of(rng), 1.0])) if rng.random() < 0.7 else None)
    made = through_a_file(made)
    assert isinstance(made, PersonalisedMechanism)
    level, which = int(rng.integers(len(levels))), int(rng.integers(len(values)))
    sent = made.sample([values[which]] * USERS, np.full(USERS, level), rng)
    told = np.bincount(sent.levels, minlength=len(levels))
    yield from checks.binomial("reported level", told, USERS, made.level_response[level])
    mechanism = made.levels[level]
    if isinstance(mechanism, TabulatedMechanism):
        law = mechanism.pmf(values[which])[0]
        yield from checks.outputs(f"at {values[which]!r}", mechanism.output_index(sent.reports), law)
    else:
        law = mechanism.pmf(mechanism.all_reports())[:, which]
        yield from checks.outputs(f"category {which}", sent.reports, law)


def levels_of_pairs(rng: Generator) -> Checks:
    """Reports of levels, and reports of everybody at one of them, after a file."""
    knots, names, padding = knots_of(rng), names_of(rng), int(rng.integers(0, 4))
    budgets, make = np.unique([epsilon_of(rng) for _ in range(3)]), (key_value_unary, key_value_response)
    form, way = make[int(rng.integers(2))], FAMILIES[str(rng.choice(["duchi", "grr"]))]
    if budgets.size < 2:
        return
    levels = [form(names, way(knots, max(0.5 * float(e), 1e-6)), float(e), padding=padding) for e in budgets]
    made = through_a_file(PersonalisedMechanism(levels, float(epsilon_of(rng)) if rng.random() < 0.7 else None))
    assert isinstance(made, PersonalisedMechanism)
    level, key, x = int(rng.integers(budgets.size)), int(rng.integers(len(names))), value_of(levels[0].value, rng)
    sent = made.sample(([names[key]] * USERS, np.full(USERS, x)), np.full(USERS, level), rng)
    told = np.bincount(sent.levels, minlength=budgets.size)
    yield from checks.binomial("reported level", told, USERS, made.level_response[level])
    yield from checks.reports_of_pairs(made.levels[level], key, x, sent.reports)


def attributes(rng: Generator) -> Checks:
    many = int(rng.integers(1, 5))
    sampled, epsilon = int(rng.integers(1, many + 1)), epsilon_of(rng)
    share = attribute_budget(epsilon, sampled)
    names = [str(rng.choice(["duchi", "piecewise", "hybrid", "grr"])) for _ in range(many)]
    tables = {f"a{i}": make_exact(FAMILIES[name](knots_of(rng), share)).mechanism for i, name in enumerate(names)}
    made = through_a_file(AttributeSampling.of(tables, sampled, epsilon))
    assert isinstance(made, AttributeSampling)
    values = {name: value_of(table, rng) for name, table in tables.items()}
    reports = made.sample({name: np.full(USERS, x) for name, x in values.items()}, rng)
    for name, table in tables.items():
        shown = reports[name][~np.isnan(reports[name])]
        yield from checks.binomial(f"users who report {name}", shown.size, USERS, sampled / many)
        yield from checks.outputs(name, table.output_index(shown), table.pmf(values[name])[0])


KINDS: dict[str, tuple[Callable[[Generator], Checks], int]] = {
    "family": (family, 10),
    "raw": (raw, 5),
    "designed": (designed, 2),
    "designed for pairs": (designed_for_pairs, 2),
    "floors": (floors, 1),
    "lattice": (lattice, 1),
    "oracle": (oracle, 4),
    "designed categories": (designed_categories, 1),
    "pairs": (pairs, 3),
    "personalised": (personalised, 2),
    "attributes": (attributes, 2),
    "levels of pairs": (levels_of_pairs, 1),
}
"""Each kind of case, and how often it comes up."""
