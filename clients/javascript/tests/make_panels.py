"""What the client of panels is tested against, made by the library: `python make_panels.py FOLDER`."""

import json
import sys
from pathlib import Path

from make_fixtures import load_documents
from optldp.mechanisms import save_bundle
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.over_time import Panel

SALT = "0123456789abcdef" * 2
USERS = ["ann", "bo", "Zoe\u0308", "\u767d", *(f"user {number}" for number in range(60))]


def main(folder: Path) -> None:
    """Write each panel, and `panels.json`: the turns of users by names."""
    colours, numbers = (
        categorical_grr(["red", "green", "blue"], 1.0),
        load_documents("key_value_laws").three_outputs(1.0),
    )
    made = {
        "one report": Panel(colours, 12, 1, 1.0, SALT),
        "four of twelve": Panel(colours, 12, 4, 4.0, SALT),
        "by shares": Panel(colours, 4, 1, 1.0, SALT, [1, 0, 5, 2]),
        "in any five": Panel(numbers, 52, 2, 2.0, SALT, span=5),
        "drawn by devices": Panel(colours, 6, 2, 2.0, None),
    }
    said = {}
    for number, (name, panel) in enumerate(made.items()):
        save_bundle(panel, folder / f"panel-{number}.json")
        turns = panel.turns(USERS).tolist() if panel.named_turns else None
        said[name] = {"file": f"panel-{number}.json", "turns": turns}
    (folder / "panels.json").write_text(json.dumps({"users": USERS, "panels": said}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
