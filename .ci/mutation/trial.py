"""One mutant against its tests, in a forked process that imports the mutant where the module's own text was."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import os
import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest
from hypothesis import Phase, settings

MEMORY = 8 * 2**30
"""Address space of a trial: a mutant that asks for more is found out."""

OPTIONS = ("-o", "addopts=--import-mode=importlib", "-x", "-q", "-p", "no:cacheprovider")  # one process

LIBRARIES = ("numpy", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats")
"""What tests import of others and is slow to load."""

SURVIVED = 0
"""The exit code of a trial in which all passed."""


class MutantFinder:
    """Finds one module of the package with another text; all others are found as usual."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the mutant's spec for the module's name, None for another."""
        if fullname != self.name:
            return None
        loader = _MutantLoader(fullname, str(self.path), self.source)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


class _MutantLoader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, source: str) -> None:
        super().__init__(fullname, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


class FailFast:
    """A pytest plugin: a falsifying example is not made smaller, since one is enough."""

    def pytest_configure(self) -> None:
        """Load a profile of Hypothesis after the tests' own conftest has."""
        settings.register_profile("mutation", settings(), phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutation")


def prepare() -> None:
    """Import libraries once, before all forks, with threads, which a fork loses, and pytest's plugins switched off."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    sys.dont_write_bytecode = True
    for library in LIBRARIES:
        importlib.import_module(library)


def trial(name: str, path: Path, source: str, tests: Sequence[str], limit: float, show: bool = False) -> bool:
    """Return whether this text of the module survives its docstring examples and its tests.

    A trial that takes longer than `limit` seconds has found the mutant out.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = _run(name, path, source, tests, limit, show)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it started and left running
    return os.waitstatus_to_exitcode(status) == SURVIVED


def _run(name: str, path: Path, source: str, tests: Sequence[str], limit: float, show: bool) -> int:
    os.setpgid(0, 0)
    signal.setitimer(signal.ITIMER_REAL, limit)  # which ends the process, whether it is in Python or not
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if not show:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
    sys.meta_path.insert(0, MutantFinder(name, path, source))  # pyright: ignore[reportArgumentType] -- a finder
    if doctest.testmod(importlib.import_module(name)).failed:
        return 1
    return int(pytest.main([*OPTIONS, *tests], plugins=[FailFast()]))
