"""Floor forms for tests: one that can be checked by hand, random ones, and the floor of a solved design's shape."""

import json
from typing import Any

import numpy as np
from optldp.mechanisms import Provenance
from optldp.mechanisms.compact_tables import FloorForm, form_over
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.bundle import bundle_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.json_text import to_json
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.table.knot_prior import KnotPrior
from scipy.optimize import brentq

D, SCALE = 2**53, 2**128

UNBIASED = Provenance("test", {"unbiased": True}, "0")


def by_hand(**changes: Any) -> FloorForm:
    """Floors of one, two and one eighths, up to three times as much in a window half as wide as there is room for."""
    plain = {
        "knots": [0.0, 4.0, 10.0],
        "places": [-10, 4, 30],
        "step": 0.5,
        "floor": [D // 8, D // 4, D // 8],
        "starts": [0, D // 16 + 3, 0],
        "ratio": 3 * SCALE,
        "epsilon": 1.1,
        "provenance": Provenance("test", {}, "0"),
    }
    return FloorForm(**{**plain, **changes})


def random_form(rng: np.random.Generator, m: int, n: int = 5) -> FloorForm:
    """Floors and starts of all sizes, the first and the last start among them; values are far from unbiased."""
    shares = rng.dirichlet(np.full(m, 0.4)) * rng.uniform(0.2, 0.6)
    floor = np.maximum((shares * D).astype(np.int64), 1)
    ratio = int((1 / floor.sum() * D * rng.uniform(1.01, 3)) * 2**40) * 2**88
    made = {
        "knots": np.sort(rng.normal(size=n)),
        "places": np.sort(rng.choice(10_000, m, replace=False)) - 5000,
        "step": 2.0**-9,
        "floor": floor,
        "ratio": ratio,
        "epsilon": 16.0,
    }
    latest = FloorForm(**made, starts=np.zeros(n, dtype=np.int64)).windows.latest
    starts = [
        0,
        int(float(latest) * (1 - 2**-52)),
        *(int(rng.uniform(0, 1) * latest * (1 - 2**-50)) for _ in range(n - 2)),
    ]
    return FloorForm(**made, starts=np.array([int(float(start)) for start in starts]))


def smooth_floor(m: int, epsilon: float, *, jitter: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Outputs and floor whose windows reach just from 0 to 100, in the shape that optima have in the interior."""
    ratio, rng = np.exp(epsilon), np.random.default_rng(5)
    windows = 2 + 0.4 * epsilon
    total = windows / (windows + ratio - 1)
    grid = np.linspace(-4, 4, m) + jitter * rng.uniform(-4, 4, m) / m
    grid = (grid - grid[::-1]) / 2
    floor = (1 + grid**2) ** -3.0
    floor *= total / floor.sum()

    def reach(scale: float) -> float:
        beyond = np.clip(np.cumsum(floor) - (total - (1 - total) / (ratio - 1)), 0, floor)
        return float(scale * (grid @ (floor + (ratio - 1) * beyond))) - 1 - 1e-9

    scale: Any = brentq(reach, 1e-3, 1e6)
    return 50 + 50 * scale * grid, floor


def wide_form(n: int, m: int, epsilon: float, *, with_prior: bool = False) -> FloorForm:
    """A form of many rows over a smooth floor."""
    outputs, floor = smooth_floor(m, epsilon, jitter=0.3)
    prior = KnotPrior(np.full(n, 1 / n), np.zeros(n - 1), "public") if with_prior else None
    return form_over(np.linspace(0, 100, n), outputs, floor, epsilon, prior=prior)


def forms() -> dict[str, FloorForm]:
    """Good ones that a reader must agree on."""
    rng = np.random.default_rng(11)
    limit = exponential_below(1.1)
    return {
        "by hand": by_hand(),
        "at the limit": by_hand(ratio=int(limit * SCALE)),
        "unbiased": wide_form(4, 6, 1.0, with_prior=True),
        "a large budget": wide_form(9, 20, 6.0),
        "two outputs": form_over([0.0, 1.0, 10.0], [-5.0, 15.0], [0.25, 0.25], 1.1),
        "a tiny domain": form_over([1e-90, 2e-90], [-5e-90, 15e-90], [0.25, 0.25], 1.1),
        **{f"random {m}": random_form(rng, m) for m in (1, 2, 7)},
    }


def document(form: Bundle, **changes: Any) -> dict[str, Any]:
    """The document of a form as plain JSON values, with members changed and a checksum that fits."""
    made = json.loads(to_json(bundle_to_document(form))) | changes
    return {**made, "checksum": checksum(made)}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a floor of zero": ({"floor": [0, D // 4, D // 8]}, "floor must be whole numbers from 1 to"),
    "a negative floor": ({"floor": [-1, D // 4, D // 8]}, "floor must be whole numbers from 1 to"),
    "a floor in doubles": ({"floor": [1e15, D // 4, D // 8]}, "floor must be whole numbers"),
    "floors beyond one": ({"floor": [D // 2, D // 4, D // 2]}, "floor must sum to at most 2\\^53"),
    "floors too small": ({"floor": [D // 8, D // 32, D // 8]}, "times the ratio must reach 2\\^53"),
    "a huge floor": ({"floor": [10**400, D // 4, D // 8]}, "floor must be whole numbers"),
    "a floor too few": ({"floor": [D // 4, D // 4]}, "outputs need a floor each, got 3 places and 2 floors"),
    "one floor beyond the ratio's reach": ({"ratio": str(10**9 * SCALE)}, "ratio must be a whole number above 2\\^128"),
    "a ratio of one": ({"ratio": str(SCALE)}, "ratio must be a whole number above 2\\^128"),
    "a ratio as a number": ({"ratio": 3.0}, "ratio must be text"),
    "a ratio with a sign": ({"ratio": "-3"}, "ratio must be the digits"),
    "a ratio with a point": ({"ratio": "3.0"}, "ratio must be the digits"),
    "a ratio with a zero before it": ({"ratio": "0" + str(3 * SCALE)}, "ratio must be the digits"),
    "a ratio of other digits": ({"ratio": "\u0663" * 40}, "ratio must be the digits"),
    "a ratio of no digits": ({"ratio": ""}, "ratio must be the digits"),
    "an endless ratio": ({"ratio": "9" * 4000}, "ratio must be the digits"),
    "a start below the line": ({"starts": [-1, 0, 0]}, "starts must be whole numbers from 0"),
    "a start beyond the last": ({"starts": [0, 0, D // 2 + 1]}, "starts must be doubles from 0 to 4503599627370496"),
    "a start in doubles": ({"starts": [0.0, 0, 0]}, "starts must be whole numbers"),
    "a start too few": ({"starts": [0, 0]}, "knots need a start each, got 3 knots and 2 starts"),
    "a huge start": ({"starts": [0, 0, 2**63]}, "starts must be whole numbers from 0"),
    "places that fall": ({"places": [-10, 30, 4]}, "outputs must be sorted"),
    "a place twice": ({"places": [-10, 4, 4]}, "outputs must be sorted"),
    "a huge place": ({"places": [-10, 4, D + 1]}, "places must be whole numbers from -"),
    "a place that is true": ({"places": [-10, True, 30]}, "places must be whole numbers"),
    "places of text": ({"places": "123"}, "places must be a list of whole numbers"),
    "no outputs": ({"places": [], "floor": []}, "times the ratio must reach|outputs need"),
    "reports too far": ({"step": 2.0**398}, "finite ends must be within 1e\\+120"),
    "a step of three": ({"step": 3.0}, "step must be a power of two"),
    "a step of zero": ({"step": 0.0}, "step must be a power of two"),
    "a negative step": ({"step": -0.5}, "step must be a power of two"),
    "a step too small": ({"step": 2.0**-1001}, "step must be a power of two"),
    "a step too large": ({"step": 2.0**401}, "step must be a power of two"),
    "a step of text": ({"step": "0.5"}, "step must be a number"),
    "knots that fall": ({"knots": [0.0, 10.0, 4.0]}, "knots must be strictly increasing"),
    "one knot": ({"knots": [0.0], "starts": [0]}, "at least 2"),
    "an epsilon of zero": ({"epsilon": 0}, "epsilon must be positive"),
    "an epsilon of text": ({"epsilon": "1"}, "epsilon must be a number"),
    "an unknown member": ({"caps": [1]}, "keys .* only, got 'caps'"),
    "a prior of other knots": (
        {"prior": {"weights": [0.5, 0.5], "rounding": [0.0], "source": "public"}},
        "one weight per knot",
    ),
    "a prior without a source": ({"prior": {"weights": [1, 0, 0], "rounding": [0, 0]}}, "key 'source'"),
    "units of numbers": ({"units": 3}, "units must be text"),
    "too many knots": ({"knots": list(range(40_000))}, "at most 32768 knots and outputs, got 40000"),
}
"""By name what is changed in the form by hand, and what the refusal says."""
