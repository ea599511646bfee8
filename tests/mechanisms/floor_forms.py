"""Floor forms for tests: one that can be checked by hand, random ones, and the floor of a solved design's shape."""

import json
from typing import Any

import numpy as np
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.bundle import bundle_to_document
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.json_text import to_json
from optldp.mechanisms.floors import FloorForm, form_over
from optldp.mechanisms.table.knot_prior import KnotPrior
from optldp.mechanisms.table.provenance import Provenance
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


def document(form: Bundle, **changes: Any) -> dict[str, Any]:
    """The document of a form as plain JSON values, with members changed and a checksum that fits."""
    made = json.loads(to_json(bundle_to_document(form))) | changes
    return {**made, "checksum": checksum(made)}
