"""The one file of settings, read and checked: every key is known and of its kind."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KINDS: dict[str, dict[str, type]] = {
    "service": {"host": str, "port": int, "data": str},
    "collection": {"question": str, "tables": list, "round": str, "round_ends": date, "late_days": int},
    "database": {"kind": str, "url": str},
    "limits": {"largest_body": int, "reports_a_second": int, "requests_a_minute": int, "waiting": int, "batch": int},
    "publishing": {"seconds": int, "at_least": int, "keep_days": int, "min_batch": int},
}


class SettingsError(SystemExit):
    """What is wrong with the settings, in one line; the exit code is 2."""

    def __init__(self, message: str) -> None:
        print(f"deployment: {message}", file=sys.stderr)
        super().__init__(2)


@dataclass(frozen=True)
class Settings:
    """The settings of one start, by section and key; paths are taken from the file's own folder."""

    path: Path
    service: dict[str, Any]
    collection: dict[str, Any]
    database: dict[str, Any]
    limits: dict[str, Any]
    publishing: dict[str, Any]

    @property
    def data(self) -> Path:
        """The folder of all that is kept."""
        return self.path.parent / self.service["data"]

    @property
    def tables(self) -> list[Path]:
        """Files of tables, in the order of their rotation."""
        return [self.path.parent / name for name in self.collection["tables"]]


def read_settings(path: Path) -> Settings:
    """Return the settings in a file, or stop with one line that says what is wrong with it."""
    try:
        sections = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise SettingsError(f"settings must be a TOML file, got {str(path)!r}: {fault}") from None
    for section, keys in KINDS.items():
        found = sections.get(section, {})
        if found.keys() != keys.keys():
            wrong = ", ".join(sorted(found.keys() ^ keys.keys()))
            raise SettingsError(f"[{section}] of {path.name} must have the keys {', '.join(keys)}; look at: {wrong}")
        for key, kind in keys.items():
            if type(found[key]) is not kind or (kind is int and found[key] < 0):
                wanted = {int: "a whole number", str: "a text", list: "a list", date: "a day"}[kind]
                raise SettingsError(f"{key} in [{section}] of {path.name} must be {wanted}, got {found[key]!r}")
    if sections["database"]["kind"] not in ("auto", "postgresql", "sqlite"):
        raise SettingsError(f"kind in [database] must be auto, postgresql or sqlite: {sections['database']['kind']!r}")
    if not sections["collection"]["tables"]:
        raise SettingsError("tables in [collection] must name a file, got none")
    return Settings(path, **{section: sections[section] for section in KINDS})
