"""What is compared with: the same program for every solver, and packages only where they are installed."""

from importlib import metadata

import numpy as np
import pytest
from designs import given_outputs, rivals
from designs.many_knots import bell
from optldp.solvers import solve_on_outputs, solve_with_highs


def test_every_solver_is_given_the_program_that_the_library_states():
    """Against HiGHS's simplex on the library's own statement of it, and the structured interior point."""
    program = bell(9)
    outputs = given_outputs.even_outputs(program, 41)
    given = program.knots, program.weights, outputs
    best = solve_with_highs(*given, 1.0).value
    lowered = given_outputs.linear_program(program, outputs)
    assert given_outputs.with_clarabel(lowered, 2 * 9) == pytest.approx(best, rel=1e-5)
    assert given_outputs.with_highs(lowered) == pytest.approx(best, rel=1e-5)
    assert solve_on_outputs(*given, program.ratio, tolerance=1e-6).value == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("way", ["ours, these outputs", "Clarabel", "HiGHS"])
def test_a_way_returns_its_value_seconds_and_memory(way):
    found = given_outputs.one(way, 5, 21)
    assert found["value"] == pytest.approx(solve_with_highs(*_five(), 1.0).value, rel=1e-5)
    assert found["seconds"] > 0
    assert found["megabytes"] > 1


def _five() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    program = bell(5)
    return program.knots, program.weights, given_outputs.even_outputs(program, 21)


def test_a_package_is_run_by_its_own_calls_and_one_that_is_missing_is_said(monkeypatch):
    """A stand-in that answers with the exact frequencies: its mean error is 0 and ours is not."""
    codes: list[int] = []

    def version(package: str) -> str:
        if package == "pure-ldp":
            return "0"
        raise metadata.PackageNotFoundError(package)

    def frequencies(sent: list[int]) -> np.ndarray:
        codes.extend(sent)
        return np.bincount(sent, minlength=rivals.CATEGORIES) / len(sent)

    monkeypatch.setattr(rivals, "USERS", 500)
    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(rivals, "PACKAGES", {"pure-ldp": lambda: {"OLH": (int, frequencies)}, "other": dict})
    table = rivals.packages()
    (row,) = table.rows
    named = dict(zip(table.columns, row, strict=True))
    assert (named["package"], named["mechanism"], named["its mean error"]) == ("pure-ldp 0", "OLH", 0.0)
    assert named["our mean error"] != 0
    assert len(codes) == 500
    assert table.about == "500 users, 64 categories; other was not installed:"
