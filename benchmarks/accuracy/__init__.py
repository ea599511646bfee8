"""The papers' comparisons over seeded repetitions: what errs how much, beside the rivals of examples/papers."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "papers"))  # rivals and data
