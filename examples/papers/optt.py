"""OPTT (Ma, Zhu and Wang) redone: constants, the best eta, and where piecewise transformation beats what.

    python examples/papers/optt.py [--quick] [--data FOLDER] [--out FOLDER] [--figure NAME ...]

What was found: docs/papers/optt.md. Real columns in the figure "data" need --data.
"""

from redone.experiment.script import main
from redone.optt.constants import constants, theorem_4, types
from redone.optt.deviations import deviations
from redone.optt.regions import bounds, figure_1, figure_2, on_data, worst_cases
from redone.optt.said import said

if __name__ == "__main__":
    main(
        "optt",
        "OPTT redone: figures 1 and 2, the theorems and the conjectures",
        {
            "1": figure_1,
            "constants": constants,
            "theorem-4": theorem_4,
            "types": types,
            "2": figure_2,
            "bounds": bounds,
            "worst-case": worst_cases,
            "data": on_data,
            "deviations": deviations,
        },
        said,
    )
