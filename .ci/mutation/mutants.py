"""All mutants of one module: mutmut's operators on every node but words, annotations, decorators and imports."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from mutmut.mutation.mutators import mutation_operators

PASSED_OVER = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.TypeAlias)
"""What no test can tell apart, or what declares and does not compute."""

WORDS = (cst.Raise, cst.FormattedString, cst.ConcatenatedString)
"""Strings in these are what people read: tests match a part of them, so that they can be worded better."""


@dataclass(frozen=True)
class Mutant:
    """One change to a module: the lines that it takes out, those that it puts in, and the whole text."""

    line: str
    becomes: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module once, in the order of the text.

    Example
    -------
    >>> [(one.line, one.becomes) for one in mutants("a = b + 1")]
    [('a = b + 1', 'a = None'), ('a = b + 1', 'a = b - 1'), ('a = b + 1', 'a = b + 2')]
    """
    module = cst.parse_module(source)
    collector = _Collector()
    module.visit(collector)
    seen = {source}
    for node, changed in collector.found:
        text = module.deep_replace(node, changed).code  # pyright: ignore[reportAttributeAccessIssue] -- a module
        if text not in seen:
            seen.add(text)
            yield Mutant(*_difference(source, text), text)


class _Collector(cst.CSTVisitor):
    """Gathers (node, mutated node) of all that is not passed over."""

    def __init__(self) -> None:
        self.found: list[tuple[cst.CSTNode, cst.CSTNode]] = []
        self.words = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, PASSED_OVER) or _is_docstring(node):
            return False
        self.words += isinstance(node, WORDS)
        for kind, operator in mutation_operators:
            if isinstance(node, kind) and not (self.words and isinstance(node, cst.BaseString)):
                self.found += [(node, changed) for changed in operator(node)]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self.words -= isinstance(original_node, WORDS)


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString)


def _difference(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, without what stands around them, as one line each."""
    changes = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    gone, come = ([line[2:].strip() for line in changes if line[0] == sign] for sign in "-+")
    return " ".join(gone), " ".join(come)
