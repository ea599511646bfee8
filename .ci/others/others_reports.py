"""Reports drawn by other packages' own clients, estimated by those packages and by optldp, side by side.

    pip install -e ".[rivals]" multi-freq-ldpy opendp
    python .ci/others/others_reports.py [--users N] [--write tests/designer/commands/others_reports.json]

Says for each package and law how far the package's own estimate of the same reports is from ours, in standard errors,
and whether our intervals (99.9%, all at once) hold the truth; exit code 1 where they do not, or where estimates differ.
`--write` keeps some of the reports, so that the tests need none of the packages. One that is not installed is left out.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from optldp.estimators import count, estimate_frequencies
from optldp.mechanisms.third_party import adopt
from optldp.mechanisms.third_party.adoption import written_of

LABELS = ("cook", "smith", "baker", "miller", "weaver", "tailor")
SHARES = np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
EPSILON = 1.0
KEPT = 200
"""Reports of each package and law that are written down."""

ALIKE = 1e-6
"""Standard errors that an estimate of the same reports may differ by: rounding."""

Reports = list[Any]
Estimate = Callable[[Reports], np.ndarray]


@dataclass(frozen=True)
class Case:
    """Reports of a package by a law, as its client returned them.

    Attributes
    ----------
    package, law : str
    told : dict
        What `adopt` is told beside the law and the categories.
    reports : list
    estimate : callable, optional
        The package's own estimate of such reports; OpenDP has none.
    cut : bool
        Whether it cuts negative frequencies and makes the others sum to one.
    """

    package: str
    law: str
    told: dict[str, Any]
    reports: Reports
    estimate: Estimate | None = None
    cut: bool = False

    def columns(self) -> list[list[str]]:
        """Return reports as a file would have them: a column of text, or values and seeds."""
        first = self.reports[0]
        if isinstance(first, tuple):
            return [[str(int(report[place])) for report in self.reports] for place in (0, 1)]
        if isinstance(first, str):
            return [self.reports]
        return [[str(report) if np.ndim(report) else str(int(report)) for report in self.reports]]


def pure_ldp(codes: np.ndarray) -> Iterator[Case]:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    size = len(LABELS)
    pairs = {
        "grr": (DEClient, DEServer, {}),
        "rappor": (UEClient, UEServer, {}),
        "oue": (UEClient, UEServer, {"use_oue": True}),
        "olh": (LHClient, LHServer, {"use_olh": True}),
    }
    for law, (client, server, more) in pairs.items():
        told = {"index_mapper": lambda index: index, **more}

        def estimate(reports: Reports, server: Any = server, told: dict[str, Any] = told) -> np.ndarray:
            collected = server(EPSILON, size, **told)
            for report in reports:
                collected.aggregate(report)
            found = [collected.estimate(code, suppress_warnings=True) for code in range(size)]
            return np.array(found) / len(reports)

        drawing = client(EPSILON, size, **told)
        reports = [drawing.privatise(code) for code in codes.tolist()]
        yield Case("pure-ldp", law, {"epsilon": EPSILON}, reports, estimate)


def multi_freq_ldpy(codes: np.ndarray) -> Iterator[Case]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    size = len(LABELS)
    known: dict[str, tuple[Callable[[int], Any], Estimate]] = {
        "grr": (lambda code: GRR_Client(code, size, EPSILON), lambda said: GRR_Aggregator_MI(said, size, EPSILON)),
        "rappor": (
            lambda code: UE_Client(code, size, EPSILON, False),
            lambda said: UE_Aggregator_MI(said, EPSILON, False),
        ),
        "oue": (lambda code: UE_Client(code, size, EPSILON, True), lambda said: UE_Aggregator_MI(said, EPSILON, True)),
        "olh": (
            lambda code: LH_Client(code, size, EPSILON, True),
            lambda said: LH_Aggregator_MI(said, size, EPSILON, True),
        ),
        "subset": (lambda code: SS_Client(code, size, EPSILON), lambda said: SS_Aggregator_MI(said, size, EPSILON)),
    }
    for law, (draw, estimate) in known.items():
        reports = [draw(code) for code in codes.tolist()]
        yield Case("multi-freq-ldpy", law, {"epsilon": EPSILON}, reports, estimate, cut=True)


def opendp(codes: np.ndarray) -> Iterator[Case]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    draw = dp.m.make_randomized_response(categories=list(LABELS), prob=0.5)
    yield Case("opendp", "grr", {"own": 0.5, "written": "label"}, [draw(LABELS[code]) for code in codes.tolist()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    np.random.seed(asked.seed)  # noqa: NPY002 -- what those packages draw with
    random.seed(asked.seed)
    codes = np.repeat(np.arange(len(LABELS)), np.round(SHARES * asked.users).astype(int))
    truth, kept, failed = np.bincount(codes) / codes.size, [], False
    for package in (pure_ldp, multi_freq_ldpy, opendp):
        try:
            cases = list(package(codes))
        except ImportError as error:
            print(f"{package.__name__}: left out, {error}")
            continue
        for case in cases:
            name = f"{case.package} {metadata.version(case.package)}"
            made = adopt(case.law, LABELS, **case.told, drawn_by=name)
            written = written_of(made)
            assert written is not None
            found = estimate_frequencies(count(made, written.reports(case.columns())))
            inside = found.interval(1 - 0.001 / len(LABELS))
            held = bool(((inside.low <= truth) & (truth <= inside.high)).all())
            off = "has no estimate of its own"
            if case.estimate is not None:
                ours = np.maximum(found.value, 0) / np.maximum(found.value, 0).sum() if case.cut else found.value
                apart = float(np.abs((ours - case.estimate(case.reports)) / found.std_error).max())
                off = f"its own estimate is {apart:.1g} standard errors away"
                held &= apart < ALIKE
            failed |= not held
            print(f"{name} {case.law}: intervals {'hold' if held else 'DO NOT HOLD'} the truth; {off}")
            rows = np.sort(np.random.default_rng(asked.seed).choice(codes.size, KEPT, replace=False))
            some = replace(case, reports=[case.reports[row] for row in rows])
            theirs = None if some.estimate is None else some.estimate(some.reports).tolist()
            kept.append(
                {"package": name, "law": case.law, "told": case.told, "reports": some.columns()}
                | {"cut": case.cut, "estimate": theirs}
            )
    if asked.write is not None:
        lines = ",\n".join(map(json.dumps, kept))
        asked.write.write_text(f'{{"labels": {json.dumps(LABELS)}, "cases": [\n{lines}\n]}}\n')
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
