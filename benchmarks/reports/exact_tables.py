"""Whole numbers over 2^53 have a cost. The table shows time, bias as a share of the domain, and the largest share of
variance lost at any knot or, for "expected", under the design's prior. It also shows how fast reports are drawn by the
operating system's generator."""

import numpy as np
from measured import Cell, Table, timed
from optldp.designer import design
from optldp.designer.auditing.audit import audit
from optldp.mechanisms import FAMILIES, Sampler, TabulatedMechanism, laplace, make_exact, piecewise
from priors import at_knots

TITLE = "Exact tables"
EPSILONS = (0.1, 1.0, 4.0, 16.0)
USERS = 1_000_000


def run() -> list[Table]:
    return [_rounding(), _largest(), _sampling(), _audits()]


def _rounding() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for epsilon in EPSILONS:
        prior = at_knots("gaussian", 101)
        designs = [(m, design(prior, epsilon, method=m, exact=False).mechanism) for m in ("optimal", "aaa")]
        for name, before in designs + [(name, family(prior.knots, epsilon)) for name, family in FAMILIES.items()]:
            made, seconds = timed(lambda before=before: make_exact(before))
            lost = None if before.prior is None else _lost(made.mechanism, before)
            change = float(made.mean_change) / float(np.ptp(before.knots))
            outputs = made.mechanism.low.size
            rows.append((name, epsilon, outputs, seconds, change, max(made.variance_change, 0.0), lost))
    columns = {
        "table, 101 knots": "", "epsilon": "", "outputs": "", "s": ".2f", "change of means": ".0e",
        "variance lost": ".0e", "expected variance lost": ".0e",
    }  # fmt: skip
    return Table(columns, rows)


def _lost(after: TabulatedMechanism, before: TabulatedMechanism) -> float:
    assert before.prior is not None
    return max(after.expected_variance(before.prior) / before.expected_variance(before.prior) - 1, 0.0)


def _largest() -> Table:
    """1001 knots and 4002 outputs: the piecewise mechanism with every cell cut in two."""
    rows = []
    for epsilon in (0.1, 1.0, 16.0):
        whole = piecewise(np.linspace(0, 1, 1001), epsilon)
        middle = (whole.low + whole.high) / 2
        low, high = np.r_[whole.low, middle], np.r_[middle, whole.high]
        order = np.argsort(low)
        halves = np.hstack([whole.probabilities / 2] * 2)[:, order]
        cut = TabulatedMechanism(whole.knots, low[order], high[order], halves, epsilon, provenance=whole.provenance)
        made, seconds = timed(lambda cut=cut: make_exact(cut))
        rows.append((epsilon, seconds, float(made.proof.relative_bias), made.variance_change))
    columns = {"epsilon": "", "s": ".1f", "bias": ".0e", "variance lost": ".0e"}
    return Table(columns, rows, "This is for 1001 knots x 4002 outputs, verification and proof included:")


def _sampling() -> Table:
    rows = []
    values = np.random.default_rng(1).uniform(-1, 1, USERS)
    knots = np.linspace(-1, 1, 101)
    for name, before in (
        ("optimal", design(at_knots("gaussian", 101), 1.0).mechanism),
        ("piecewise", piecewise(knots, 1.0)),
        ("Laplace as points", laplace(knots, 1.0)),
    ):
        sampler = Sampler(make_exact(before).mechanism)
        sampler.sample(values[:10])
        _, seconds = timed(lambda sampler=sampler: sampler.sample(values))
        rows.append((name, USERS / seconds / 1e6))
    columns = {"table, 101 knots, epsilon 1": "", "million reports a second, `os.urandom`": ".1f"}
    return Table(columns, rows)


def _audits() -> Table:
    """One million samples each: the real sampler, and two planted faults."""
    mechanism = make_exact(laplace(np.linspace(-1, 1, 101), 1.0)).mechanism
    rng = np.random.default_rng(1)
    reach = np.quantile(np.abs(mechanism.sample(np.ones(USERS), rng) - 1), 0.98)

    def cut(x: np.ndarray) -> np.ndarray:
        reports = mechanism.sample(x, rng)
        while (far := np.abs(reports - x) > reach).any():
            reports[far] = mechanism.sample(x[far], rng)
        return reports

    rows = []
    for name, draw, claim in (
        ("the real sampler", None, 1.0),
        ("tails cut", cut, 1.0),
        ("a claim 10% too small", None, 0.9),
    ):
        found, seconds = timed(lambda draw=draw, claim=claim: audit(mechanism, draw, epsilon=claim))
        rows.append((name, claim, found.lower_bound, "passes" if found.ok else "caught", seconds))
    columns = {"audit of Laplace at epsilon 1": "", "claim": "", "lower bound": ".3f", "verdict": "", "s": ".1f"}
    return Table(columns, rows)
