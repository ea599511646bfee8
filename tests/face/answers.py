"""One of every kind of answer that users are handed, with names and units that mean harm."""

# What is made is known to be of its kind; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from typing import Any

import numpy as np
from optldp.designer import (
    Attributes,
    CategoricalPrior,
    Error,
    Levels,
    Prior,
    TwoPhasePlan,
    advise,
    bounds,
    compare,
    compare_categorical,
    design,
    sweep,
    two_phase,
)
from optldp.designer.auditing.audit import Audit
from optldp.designer.designs import clip_curve
from optldp.designer.planning import plan_distribution_error, plan_error, plan_frequencies
from optldp.designer.priors import MeasuredTrust
from optldp.estimators import (
    bias_aware_mean,
    count,
    estimate_distribution,
    estimate_frequencies,
    estimate_mean,
    influence,
    personalised_distribution,
)
from optldp.estimators.differences import (
    estimate_difference,
    estimate_group_differences,
    estimate_group_quantiles,
    estimate_groups,
    estimate_quantile_differences,
    estimate_weighted,
    match_users,
    tally_groups,
)
from optldp.estimators.distributions import QueriesEstimate
from optldp.estimators.distributions.scatter import ScatterEstimate
from optldp.estimators.estimate import NumberEstimate
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.key_values.counts import ShownCounts
from optldp.estimators.reading.columns import describe
from optldp.mechanisms import AttributeSampling, PersonalisedMechanism, duchi, make_exact, prove, verify
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.projective_geometry import projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.features import Feature, Features, Quadratic
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.over_time import Directions, HistoryRows, Memoised, Panel, Tree
from optldp.mechanisms.over_time.signs import best_signs
from optldp.mechanisms.shuffling import Shuffled
from optldp.mechanisms.third_party import adopt

from ..estimators.test_estimate import ANSWERS as ESTIMATES
from ..mechanisms.floor_forms import by_hand

HARM = "<script>alert('&')</script>\x1b[2J\u202e$\n"
NAMES = [HARM, "b & c", 'd"e']
KNOTS = [0.0, 25.0, 50.0, 75.0, 100.0]


def answers() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    prior = Prior.on_knots(KNOTS, [5, 3, 2, 1, 1], source="public", units=HARM)
    jobs = CategoricalPrior(NAMES, [3, 2, 1])
    made, rows = design(prior, 1.0), compare(prior, [1.0, 2.0], methods=["optimal", "duchi"])
    table, values = made.mechanism, rng.choice(KNOTS, 200)
    grr = categorical_grr(NAMES, 1.0)
    tables = [make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (0.5, 1.0)]
    pairs = [key_value_unary(NAMES, each, each.epsilon) for each in tables]
    both = [AttributeSampling([HARM, "age"], [each, each], 1, each.epsilon) for each in tables]
    chosen, chosen_pairs = PersonalisedMechanism(tables, 0.5), PersonalisedMechanism(pairs)
    chosen_both = PersonalisedMechanism(both)
    some, keys, levels = np.full(100, 0.5), np.repeat(NAMES[:2], 50), np.arange(100) % 2
    reports = pairs[1].sample(keys, some, rng)
    counts = count(table, table.sample(values, rng))
    labels = count(grr, grr.sample(np.repeat(NAMES, 40), rng))
    found = estimate_mean(counts)
    grouped = {"report": table.sample(values, rng), "region": rng.choice([HARM, "west"], 200)}
    said = {"user": np.arange(120), "report": grr.to_text(grr.sample(np.repeat(NAMES, 40), rng))}
    return ESTIMATES | {
        "described numbers": describe([*values.tolist(), HARM, None]),
        "described categories": describe([*NAMES, None]),
        "prior": prior,
        "categorical prior": jobs,
        "priors of attributes": Attributes({HARM: prior, "age": prior}),
        "trust": MeasuredTrust(2.0, np.inf, 10, 20, 0.95, 0.01, (0.0, 1.0), 0.5, 0.4, True),
        "table": table,
        "floor form": by_hand(),
        "categories": grr,
        "unary": optimised_unary(NAMES, 1.0),
        "hashing": local_hashing(NAMES, 1.0),
        "subsets": subset_selection(NAMES, 1.0),
        "points": projective_geometry(NAMES, 1.0),
        "others' hashing": adopt("olh", NAMES, 1.0),
        "pairs in unary": pairs[1],
        "pairs in one place": key_value_response(NAMES, tables[1], 1.0),
        "sampled attributes": both[1],
        "directions": Directions(0.0, 1.0, np.eye(3, dtype=int) * 2**20, 57000, 8, 2, (5, 2), 1.0, HARM),
        "memoised": Memoised(table, 12, 2, 2.0),
        "tree": Tree(table, 3, [1, 0, 1, 2], [(1, best_signs(1, 1.0))], 2.0, 1.0, "0" * 32),
        "rows": HistoryRows(table, [[0.5, 0.5]], [1], [1.0], 1.0, "0" * 32),
        "features": Features({"x": (0.0, 1.0)}, [Feature("x", Quadratic([0], [1], 0.0, [1], [[0]]), table)], 1.0),
        "panel": Panel(table, 12, 1, 1.0, "0" * 32),
        "levels of numbers": chosen,
        "levels of pairs": chosen_pairs,
        "levels of attributes": chosen_both,
        "verification": verify(table),
        "proof": prove(table),
        "rounding": make_exact(duchi([0, 1], 1.0)),
        "design": made,
        "design of categories": design(jobs, 1.0),
        "design of levels": design(prior, Levels([0.5, 1.0], shares=[1, 1], leakage=0.5)),
        "design of attributes": design(Attributes({HARM: prior, "age": prior}, sampled=1), 1.0),
        "certificate": made.certificate,
        "checked": made.certificate.check(),
        "clips": clip_curve(design(prior, 1.0, objective=Error(1000))),
        "comparison": rows,
        "a row": rows[0],
        "mixed reports": Shuffled(grr, 1000, 1e-6),
        "bounds": bounds(prior, [1.0], methods=["duchi"]),
        "sweep": sweep({HARM: prior}, [1.0], methods=["duchi"]),
        "oracles": compare_categorical(jobs.weights, 1.0),
        "an oracle": compare_categorical(jobs.weights, 1.0)[0],
        "plan": plan_error(prior, 1000, 1.0),
        "plan of frequencies": plan_frequencies(jobs, 1000, epsilon=1.0),
        "plan of a distribution": plan_distribution_error(prior, 1000, 1.0, rng=rng, repetitions=2),
        "advice": (told := advise(prior, 100, 1.0, rng=rng, mechanisms=["duchi"], repetitions=2, estimators=["ua"])),
        "its row": told.best,
        "its error": told.best.mse,
        "audit": Audit(True, 1.0, 0.8, 0.99, (HARM, 2.0), HARM, (5, 2), (10, 10), 20, 3, 0, ("sizes",), ()),
        "two phases": TwoPhasePlan((0.0, 1.0), 1.0, knots=3, units=HARM),
        "both phases": two_phase(some, 1.0, domain=(0.0, 1.0), knots=3, rng=rng),
        "counts": counts,
        "counts of categories": labels,
        "supports of categories": SupportCounts.from_reports(local_hashing(NAMES, 1.0), [0, 1, 2]),
        "counts of pairs": count(pairs[1], reports),
        "what was shown": ShownCounts.from_reports(pairs[1], reports),
        "counts of attributes": count(both[1], both[1].sample({HARM: some, "age": some}, rng)),
        "counts of levels": count(chosen, chosen.sample(some, levels, rng)),
        "counts of levels of pairs": count(chosen_pairs, chosen_pairs.sample((keys, some), levels, rng)),
        "counts of levels of attributes": count(
            chosen_both, chosen_both.sample({HARM: some, "age": some}, levels, rng)
        ),
        "a fitted share": estimate_frequencies(labels, method="mle").share(NAMES[:1]),
        "a median": estimate_distribution(counts, method="em").quantile(0.5),
        "a median at levels": personalised_distribution(count(chosen, chosen.sample(some, levels, rng))).quantile(0.5),
        "a median of ems": estimate_distribution(counts, method="ems").quantile(0.5),
        "frequencies of harm": estimate_frequencies(labels),
        "interval": found.interval(),
        "intervals": estimate_frequencies(labels).interval(),
        "a number": NumberEstimate(np.nan, np.nan, 5, HARM),
        "scatter": ScatterEstimate(0.5, 0.1, 5, "ems"),
        "queries": QueriesEstimate(np.array([0.25, 0.5]), np.array([0.1, 0.2]), 100),
        "groups": estimate_groups(tally_groups(table, grouped, by="region")),
        "differences of groups": estimate_group_differences(*[tally_groups(table, grouped, by="region")] * 2),
        "quantiles of groups": estimate_group_quantiles(tally_groups(table, grouped, by="region"), shares=[0.5]),
        "a difference of quantiles": estimate_quantile_differences(counts, counts, shares=[0.5]),
        "a weighted mean": estimate_weighted(tally_groups(table, {"report": grouped["report"]}).tallies[0]),
        "weighted frequencies": estimate_weighted(tally_groups(grr, said).tallies[0]),
        "a difference": estimate_difference(match_users((grr, said), (grr, said), key="user")),
        "bias aware": bias_aware_mean(counts, prior.weights, trust=2.0),
        "influence": influence(table, found),
    }
