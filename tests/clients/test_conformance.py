"""The driver of the conformance kit: what it lets pass, and what it finds."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from clients.conformance.driver import fault_of, faults
from clients.conformance.vectors import Vector

READ = Vector("a document", {"do": "read", "document": ""}, accepted=False)
DRAW = Vector("draws", {"do": "draw", "document": "", "draws": []}, reports=(1.5, 1.2345678901234567e20))
SHORT = Vector("no words", {"do": "draw", "document": "", "draws": []})


@pytest.mark.parametrize(
    ("vector", "answer", "says"),
    [
        (READ, {"accepted": False, "reason": "knots must rise"}, ""),
        (READ, {"accepted": False}, "must have a reason"),
        (READ, {"accepted": True}, "must be refused, got accepted"),
        (READ, {"skipped": "no time"}, "skipped: no time"),
        (READ, {}, "got no verdict"),
        (DRAW, {"reports": [1.5, 123456789012345670000]}, ""),
        (DRAW, {"reports": [1.5, 2.0]}, "others at 1 places, first 1"),
        (DRAW, {"reports": [1.5]}, "a report for each value"),
        (DRAW, {"reports": [True, 2.0]}, "must be numbers"),
        (SHORT, {"stopped": True}, ""),
        (SHORT, {"reports": [1.5]}, "must stop the draw"),
    ],
)
def test_an_answer_passes_only_where_it_is_right(vector, answer, says):
    fault = fault_of(vector, json.dumps(answer))
    assert says in fault if says else fault == ""


def test_a_client_that_answers_too_few_lines_is_wrong():
    (fault,) = faults([sys.executable, "-c", 'print("""{"accepted": false, "reason": "no"}""")'], [READ, READ])
    assert "got 1 for 2" in fault
