"""The face: names of the tutorial, each said once, and nothing loaded before it is used."""

import importlib
import pkgutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import optldp
import pytest

PACKAGES = ("optldp", "optldp.mechanisms", "optldp.solvers", "optldp.estimators", "optldp.designer")
ROOT = Path(__file__).parents[2]
ROOMS = tuple(
    ".".join(("optldp", *stub.parent.relative_to(ROOT).parts))
    for package in PACKAGES[1:]
    for stub in sorted((ROOT / package.removeprefix("optldp.")).glob("*/**/__init__.pyi"))
)
"""Rooms that have public names of their own: those with a stub."""


def in_fresh_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("package", PACKAGES + ROOMS)
def test_every_public_name_loads_and_is_listed(package):
    module = importlib.import_module(package)
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        module.no_such_name  # noqa: B018 -- what is asked raises


@pytest.mark.parametrize("package", PACKAGES[1:] + ROOMS)
def test_no_public_name_is_a_room_too(package):
    """Importing the room would put it in the name's place."""
    module = importlib.import_module(package)
    rooms = {found.name for found in pkgutil.iter_modules(module.__path__)}
    assert not rooms & set(module.__all__)


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_a_layer_has_at_most_forty_public_names(package):
    assert len(importlib.import_module(package).__all__) <= 40


def test_a_name_is_public_in_one_place_alone():
    said = [name for package in PACKAGES[1:] + ROOMS for name in importlib.import_module(package).__all__]
    assert len(ROOMS) > 1
    assert sorted(set(said)) == sorted(said)


def test_the_version_is_the_installed_one():
    assert optldp.__version__ == metadata.version("optldp")


def test_importing_the_face_and_the_layers_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "duckdb", "typer", "matplotlib"}
    code = f"import sys, {', '.join(PACKAGES + ROOMS)}; print(sorted({heavy} & set(sys.modules)))"
    assert in_fresh_python(code) == "[]"


def test_the_command_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "optldp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"optldp {optldp.__version__}"
