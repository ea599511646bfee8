"""What whole numbers over 2^53 cost: time, bias as a share of the domain, largest share of variance lost at any knot
or, for "expected", under the design's prior; and how fast reports are drawn by the operating system's generator."""

import time

import numpy as np
from markdown_table import table
from optldp.designer import design
from optldp.designer.auditing.audit import audit
from optldp.mechanisms import FAMILIES, Sampler, TabulatedMechanism, laplace, make_exact, piecewise
from priors import at_knots

TITLE = "Exact tables"
EPSILONS = (0.1, 1.0, 4.0, 8.0, 16.0)
USERS = 1_000_000


def run() -> str:
    parts = (_rounding(), _largest(), _sampling(), _audits())
    return "\n\n".join(parts)


def _rounding() -> str:
    rows = []
    for epsilon in EPSILONS:
        prior = at_knots("gaussian", 101)
        designs = [(m, design(prior, epsilon, method=m, exact=False).mechanism) for m in ("optimal", "aaa")]
        for name, before in designs + [(name, family(prior.knots, epsilon)) for name, family in FAMILIES.items()]:
            started = time.perf_counter()
            made = make_exact(before)
            seconds = time.perf_counter() - started
            lost = "" if before.prior is None else _lost(made.mechanism, before)
            rows.append(
                (
                    name, epsilon, made.mechanism.low.size, f"{seconds:.2f}",
                    f"{float(made.mean_change) / np.ptp(before.knots):.0e}", f"{max(made.variance_change, 0):.0e}",
                    lost,
                )
            )  # fmt: skip
    header = (
        "table, 101 knots",
        "epsilon",
        "outputs",
        "s",
        "change of means",
        "variance lost",
        "expected variance lost",
    )
    return table(header, rows)


def _lost(after: TabulatedMechanism, before: TabulatedMechanism) -> str:
    assert before.prior is not None
    return f"{max(after.expected_variance(before.prior) / before.expected_variance(before.prior) - 1, 0):.0e}"


def _largest() -> str:
    """1001 knots and 4002 outputs: the piecewise mechanism with every cell cut in two."""
    rows = []
    for epsilon in (0.1, 1.0, 16.0):
        whole = piecewise(np.linspace(0, 1, 1001), epsilon)
        middle = (whole.low + whole.high) / 2
        low, high = np.r_[whole.low, middle], np.r_[middle, whole.high]
        order = np.argsort(low)
        halves = np.hstack([whole.probabilities / 2] * 2)[:, order]
        cut = TabulatedMechanism(whole.knots, low[order], high[order], halves, epsilon, provenance=whole.provenance)
        started = time.perf_counter()
        made = make_exact(cut)
        seconds = time.perf_counter() - started
        rows.append(
            (epsilon, f"{seconds:.1f}", f"{float(made.proof.relative_bias):.0e}", f"{made.variance_change:.0e}")
        )
    return "1001 knots x 4002 outputs, verification and proof included:\n\n" + table(
        ("epsilon", "s", "bias", "variance lost"), rows
    )


def _sampling() -> str:
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
        started = time.perf_counter()
        sampler.sample(values)
        rows.append((name, f"{USERS / (time.perf_counter() - started) / 1e6:.1f}"))
    return table(("table, 101 knots, epsilon 1", "million reports a second, `os.urandom`"), rows)


def _audits() -> str:
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
        started = time.process_time()
        found = audit(mechanism, draw, epsilon=claim)
        seconds = time.process_time() - started
        rows.append((name, claim, f"{found.lower_bound:.3f}", "passes" if found.ok else "caught", f"{seconds:.1f}"))
    return table(("audit of Laplace at epsilon 1", "claim", "lower bound", "verdict", "processor s"), rows)
