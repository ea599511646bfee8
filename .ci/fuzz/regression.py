"""Draw from random mechanisms on hostile domains and compare with the laws that they state, while there is time.

python .ci/fuzz/regression.py --seconds 60                 in every run
python .ci/fuzz/regression.py --seconds 14400              at night
python .ci/fuzz/regression.py --seed 7 --case 123          one case again, as the line that reports a failure says

A mechanism that cannot be made is refused in one line, and is no failure. The checks of case k share a level of
1e-5 / (k (k + 1)), so a run of any length in which all is well fails with probability at most 1e-5.
"""

import argparse
import sys
import time
import traceback
import warnings

import numpy as np
from optldp.mechanisms import OptldpError
from regression_cases import KINDS

FALSE_ALARM = 1e-5


def kind_of(rng: np.random.Generator) -> str:
    """Draw the kind of a case."""
    chances = np.array([many for _, many in KINDS.values()], dtype=float)
    return list(KINDS)[int(rng.choice(chances.size, p=chances / chances.sum()))]


def judged(seed: int, case: int) -> tuple[str, str]:
    """Run one case: its kind, and "drawn", "refused" or what failed."""
    rng = np.random.default_rng([seed, case])
    name = kind_of(rng)
    try:
        found = list(KINDS[name][0](rng))
    except OptldpError as error:
        return name, "refused" if "\n" not in str(error) else f"a refusal of more than one line: {error}"
    except Exception:
        return name, traceback.format_exc()
    level = FALSE_ALARM / (case * (case + 1)) / max(len(found), 1)
    wrong = [f"{what} (probability at most {chance:.1e})" for what, chance in found if not chance >= level]
    return name, "; ".join(wrong) or "drawn"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, printed")
    parser.add_argument("--case", type=int, default=None, help="this case alone, a number from 1")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
    warnings.simplefilter("error")
    started, tried, counts = time.monotonic(), 0, {"drawn": 0, "refused": 0, "failed": 0}
    while tried == 0 or (options.case is None and time.monotonic() - started < options.seconds):
        tried += 1
        case = options.case or tried
        name, said = judged(seed, case)
        counts[said if said in counts else "failed"] += 1
        if said not in counts or options.case:
            print(f"{name}: {said}\n  again: python .ci/fuzz/regression.py --seed {seed} --case {case}", flush=True)
    summary = ", ".join(f"{many} {what}" for what, many in counts.items())
    print(f"regression: {tried} cases, {summary}; seed {seed}; a false alarm in at most {FALSE_ALARM:g} of runs")
    return int(counts["failed"] > 0 or (counts["drawn"] == 0 and options.case is None))


if __name__ == "__main__":
    sys.exit(main())
