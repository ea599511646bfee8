"""The lock of CI: it pins, with hashes, a version within its range of all that pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / ".ci" / "requirements.lock").read_text()
SHA256 = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries() -> list[tuple[Requirement, int]]:
    """Every requirement that is pinned, and the number of its hashes."""
    text = "\n".join(line for line in LOCK.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    return [(Requirement(line.split(" --hash")[0]), len(SHA256.findall(line))) for line in lines]


def pins() -> dict[str, set[Version]]:
    """The versions of each package: more than one where a marker decides."""
    found: dict[str, set[Version]] = {}
    for requirement, _ in entries():
        (only,) = requirement.specifier
        assert only.operator == "==", requirement
        found.setdefault(canonicalize_name(requirement.name), set()).add(Version(only.version))
    return found


def asked_for() -> list[str]:
    """Every requirement of pyproject.toml: to build, to run and of all extras."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = document["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    return [
        *document["build-system"]["requires"],
        *project["dependencies"],
        *(one for one in extras if Requirement(one).name != project["name"]),
    ]


@pytest.mark.parametrize("text", asked_for())
def test_the_lock_pins_a_version_within_the_range_that_users_may_install(text):
    """Write it anew with .ci/lock where it does not."""
    asked, pinned = Requirement(text), pins()
    assert canonicalize_name(asked.name) in pinned, f"{asked} is not in the lock"
    outside = [version for version in pinned[canonicalize_name(asked.name)] if version not in asked.specifier]
    assert not outside


def test_every_pin_has_hashes_and_names_no_place_to_get_it_from():
    """An index, a link or a file would make CI depend on one host."""
    assert len(entries()) > len(asked_for())
    assert [str(requirement) for requirement, hashes in entries() if not hashes or requirement.url] == []
    assert LOCK.count("--hash=") == sum(hashes for _, hashes in entries())
    assert not re.search(r"://|--(?!hash=)\w+|\bfile:", LOCK)
