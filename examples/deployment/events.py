"""The log: a line of JSON for an event, with counts; no report, token, value or address."""

import json
import sys
from datetime import UTC, datetime


def log(event: str, **facts: str | int | float) -> None:
    """Write an event and its facts on stderr."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    print(json.dumps({"time": now, "event": event, **facts}), file=sys.stderr, flush=True)
