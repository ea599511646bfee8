"""The contributor's tools agree with the project: one version, the same Pythons, commands and files that are there."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def test_a_citation_names_the_version_and_licence_of_the_package():
    citation = read(ROOT / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_public_ci_has_linux_and_macos_and_every_python_from_the_oldest_that_is_supported():
    """And the classifiers, if they name any, name no other."""
    matrix = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    supported = SpecifierSet(PROJECT["requires-python"])
    assert matrix["python"] == [f"3.{minor}" for minor in (11, 12, 13, 14)]
    assert [f"3.{minor}" in supported for minor in (10, 11)] == [False, True]
    assert {system.split("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_repository_alone_and_takes_actions_by_their_hash(workflow):
    """A tag can be moved to other code; publishing needs a token of its own, and nothing beside."""
    document = read(workflow)
    assert document["permissions"] == {"contents": "read"}
    assert [job["permissions"] for job in document["jobs"].values() if "permissions" in job] in (
        [],
        [{"id-token": "write"}],
    )
    used = re.findall(r"uses: (\S+)", workflow.read_text())
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)] == []


def test_what_the_tools_call_is_in_the_repository():
    """Programs of .ci that hooks, recipes and workflows start."""
    for path in (*WORKFLOWS, ROOT / "justfile", ROOT / ".pre-commit-config.yaml"):
        called = re.findall(r"(?<![\w/])\.ci/[\w./]*\w(?![\w/])", path.read_text())
        assert called
        assert [name for name in called if not (ROOT / name).is_file()] == []


def test_walls_leave_no_file_of_a_room_out():
    """A file that no contract names could import whatever it likes."""
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    assert [one["name"] for one in contracts if "containers" in one and not one.get("exhaustive")] == []
    assert {room for one in contracts for room in one.get("containers", [])} >= {"optldp.designer", "optldp.mechanisms"}
    assert [one for one in contracts if "optldp.designer.commands.*" in one.get("modules", [])]


def test_ci_runs_the_quick_tests_and_then_the_slow_ones_and_the_rest_runs_every_night():
    """What the README's command deselects by pyproject.toml's options is selected, here and in public."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["addopts"]
    assert "-m 'not slow and not nightly'" in options
    assert "python -m pytest -m nightly" in (ROOT / ".github" / "workflows" / "nightly.yml").read_text()
    for path in (ROOT / ".ci" / "run", ROOT / "justfile", ROOT / ".github" / "workflows" / "ci.yml"):
        assert re.search(r"python\S* -m pytest -m \"slow and not nightly\"", path.read_text()), path


@pytest.mark.slow
def test_of_sampled_cases_each_nth_is_quick_and_no_case_is_lost(pytester):
    """The quick cases of a test, the slow ones and those of the night together are all of them."""
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    nightly\n    sampled")
    pytester.makepyfile("""
        import pytest

        @pytest.mark.sampled(3)
        @pytest.mark.parametrize("case", range(7))
        def test_many(case): pass

        @pytest.mark.slow
        def test_long(): pass

        def test_one(): pass
    """)
    quick, slow, night = (
        re.findall(r"::(\S+) PASSED", pytester.runpytest_inprocess("-v", "-m", words).stdout.str())
        for words in ("not slow and not nightly", "slow and not nightly", "nightly")
    )
    assert quick == ["test_many[0]", "test_many[3]", "test_many[6]", "test_one"]
    assert slow == ["test_many[1]", "test_long"]
    assert night == ["test_many[2]", "test_many[4]", "test_many[5]"]
