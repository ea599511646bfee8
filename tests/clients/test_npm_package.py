"""The npm package has what its own files name."""

import json
import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "clients" / "javascript"
PACKAGE = json.loads((FOLDER / "package.json").read_text("utf-8"))


def test_types_name_what_modules_export():
    for entry in PACKAGE["exports"].values():
        types, code = ((FOLDER / entry[name]).read_text("utf-8") for name in ("types", "default"))
        named = set(re.findall(r"^export (?:function|class) (\w+)", types, re.MULTILINE))
        assert named
        assert named <= set(re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", code, re.MULTILINE))


def test_every_module_that_is_imported_is_packed():
    packed = {name for name in PACKAGE["files"] if name.endswith(".js")}
    assert {entry["default"].removeprefix("./") for entry in PACKAGE["exports"].values()} <= packed
    for name in packed:
        assert set(re.findall(r'from "\./([^"]+)"', (FOLDER / name).read_text("utf-8"))) <= packed
