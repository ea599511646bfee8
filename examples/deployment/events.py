"""The log: a line of JSON for an event, with counts; no report, token, value or address."""

import json
import sys
from datetime import datetime, timezone


def log(event: str, **facts: str | int | float) -> None:
    """Write an event and its facts on stderr."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    print(json.dumps({"time": now, "event": event, **facts}), file=sys.stderr, flush=True)
