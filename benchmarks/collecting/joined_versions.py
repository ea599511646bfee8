"""Two versions of a mechanism for categories are estimated together: how often do the intervals hold the frequencies?

    python benchmarks collecting.joined_versions --write docs/how-to/engines-over-time.md

Of TOGETHER users a share reports by both versions, at EPSILONS; the others report by one of them. In both their
values are the same, or drawn anew for the second. Intervals of 95% for the population's frequencies are those of
`join_frequencies` that is told of the users in common, and of one that is not.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import numpy as np
from measured import Table
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.frequencies import join_frequencies
from optldp.mechanisms.categorical import categorical_grr, optimised_unary

LABELS = np.array(list("abcd"))
SHARES = np.array([0.5, 0.3, 0.15, 0.05])
TOGETHER = 400
LAWS = {"randomised response": categorical_grr, "unary": optimised_unary}
EPSILONS = (3.0, 4.0)
MARKS = "<!-- joined versions -->\n", "\n<!-- end of joined versions -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="a page with marks for the table")
    asked = parser.parse_args()
    rows = []
    for law in LAWS:
        for both in (0.0, 0.5, 1.0):
            for changed in (False, True) if both else (False,):
                rng = np.random.default_rng([asked.seed, len(rows)])
                rows.append(
                    (law, both, "drawn anew" if changed else "the same", *held(law, both, changed, asked.draws, rng))
                )
    said = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True).stdout
    about = (
        f"{asked.draws:,} draws of {TOGETHER} users, budgets {EPSILONS[0]:g} and {EPSILONS[1]:g}, weighed by "
        f"`--alike`; seed {asked.seed}, commit {said.strip()}. Shares of the intervals of 95% that hold the "
        "population's frequency."
    )
    columns = {"law": "", "users in both": ".0%", "their values": "", "told by `--key`": ".3f", "not told": ".3f"}
    text = Table(columns, rows, about).markdown()
    print(text)
    if asked.write is not None:
        page = asked.write.read_text()
        start, stop = (page.index(mark) for mark in MARKS)
        asked.write.write_text(page[: start + len(MARKS[0])] + text + page[stop:])


def held(law: str, both: float, changed: bool, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often intervals hold the frequency where common users are told of, and where they are not."""
    made = [LAWS[law](list(LABELS), epsilon) for epsilon in EPSILONS]
    many, found = int(both * TOGETHER), np.zeros(2)
    apart = (TOGETHER - many) // 2
    common = np.array([[0, many], [many, 0]])
    for _ in range(draws):
        values = rng.choice(4, TOGETHER, p=SHARES)
        later = rng.choice(4, TOGETHER, p=SHARES) if changed else values
        each = (values[: many + apart], np.concatenate([later[:many], later[many + apart :]]))
        parts = [
            estimate_frequencies(CategoryCounts.from_reports(law, law.sample(LABELS[part].tolist(), rng)))
            for law, part in zip(made, each, strict=True)
        ]
        for place, shared in enumerate((common, None)):
            interval = join_frequencies(parts, alike=True, common=shared).interval(0.95)
            found[place] += ((interval.low <= SHARES) & (interval.high >= SHARES)).mean()
    return float(found[0] / draws), float(found[1] / draws)


if __name__ == "__main__":
    main()
