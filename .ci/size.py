"""Print how large the house is: lines of code, files, options, reasons, and questions after a mechanism's class.

    python .ci/size.py [--check]

Lines are those that are neither blank, nor comments, nor docstrings. A question is an `isinstance` or `issubclass`
outside `mechanisms` that names a class of mechanisms: what stands behind it is written once for each kind, where it
could be written once for all. These figures are signs of whether ideas have been found; nothing holds them to a limit.

With --check it fails where a class is asked for by a file that `ALLOWED` does not name: what reports tell is a
mechanism's `statistic`, and what can only be said of one kind is a function that is registered for it. It counts as
asked whoever compares the kind or the type of what is called as mechanisms are, or looks whether it has an attribute.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("mechanisms", "solvers", "estimators", "designer")
ROOTS = {"Bundle", "TabulatedMechanism"}
"""Classes of which all mechanisms are."""

ALLOWED = {
    "designer/commands/design.py": "a table is written in full or as the floor form that it has, as asked",
}
"""Files that may ask once, and why. Whoever takes tables of numbers alone asks `table_of`, which refuses others."""

CALLED = {"mechanism", "made", "table", "channel", "level", "bundle"}
"""What mechanisms are called."""

SMALL = 40
"""Lines below which a file that one other imports may belong into that one."""

NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def main() -> int:
    """Print the figures, layer by layer, and their sums; with --check, return 1 where a class is asked for."""
    sources = {layer: [path.read_text("utf-8") for path in sorted((ROOT / layer).rglob("*.py"))] for layer in LAYERS}
    trees = {layer: [ast.parse(text) for text in texts] for layer, texts in sources.items()}
    kinds = _subclasses([tree for layer in trees.values() for tree in layer])
    print(f"{'layer':12}{'lines':>8}{'files':>7}{'classes asked for':>19}")
    total = Counter[str]()
    for layer in LAYERS:
        figures = Counter(
            lines=sum(map(lines_of_code, sources[layer], trees[layer])),
            files=len(sources[layer]),
            asked=0 if layer == "mechanisms" else sum(questions(tree, kinds) for tree in trees[layer]),
        )
        total += figures
        print(f"{layer:12}{figures['lines']:8,}{figures['files']:7}{figures['asked']:19}")
    print(f"{'all':12}{total['lines']:8,}{total['files']:7}{total['asked']:19}")
    print(f"{len(kinds)} classes of mechanisms, {len(set(_options(trees['designer'])))} options of the command line")
    comments, reasons, inside = (
        sum(map(count, [text for texts in sources.values() for text in texts]))
        for count in (comments_in, reasoned, imports_inside)
    )
    print(f"{comments} comments, {reasons} constants with a sentence below them, {inside} imports inside functions")
    print(f"{len(alone())} files of under {SMALL} lines that one other file imports")
    return 0 if "--check" not in sys.argv[1:] else checked(kinds)


def checked(kinds: set[str]) -> int:
    """Print the files that ask for a class and may not, or may and do not, and return 1 if there are any."""
    asking = {
        path.relative_to(ROOT).as_posix(): many
        for layer in LAYERS[1:]
        for path in sorted((ROOT / layer).rglob("*.py"))
        if (many := questions(ast.parse(path.read_text("utf-8")), kinds))
    }
    wrong = [
        f"{name} asks for the class of a mechanism {many} times"
        for name, many in asking.items()
        if many > (name in ALLOWED)
    ]
    wrong += [f"{name} asks for no class: take it off the list" for name in ALLOWED if name not in asking]
    for line in wrong:
        print(line)
    return int(bool(wrong))


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Return the number of lines with code on them."""
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(tree):
        for one in getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                code -= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return len(code)


def comments_in(text: str) -> int:
    """Return the number of comments that are no marks for tools."""
    marks = ("noqa", "pyright:", "fmt:", "type:")
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and not any(mark in token.string for mark in marks) for token in tokens)


def reasoned(text: str) -> int:
    """Return the number of a module's constants below which a sentence stands."""
    body = ast.parse(text).body
    said = (isinstance(two, ast.Expr) and isinstance(two.value, ast.Constant) for two in body[1:])
    return sum(
        isinstance(one, ast.Assign | ast.AnnAssign) and is_said for one, is_said in zip(body, said, strict=False)
    )


def imports_inside(text: str) -> int:
    """Return the number of imports inside functions, one of a nested function once."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    inner = {
        node.lineno for one in functions for node in ast.walk(one) if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(inner)


def alone() -> list[str]:
    """Return the files of few lines, other than `__init__`, that exactly one other file imports."""
    files = {
        path.relative_to(ROOT).with_suffix("").parts: path for layer in LAYERS for path in (ROOT / layer).rglob("*.py")
    }
    importers: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name, path in files.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                room = (*name[: -node.level], *(node.module.split(".") if node.module else ()))
                for one in (room, *((*room, alias.name) for alias in node.names)):
                    importers.setdefault(one, set()).add(name)
    few = (name for name, path in files.items() if len(path.read_text("utf-8").splitlines()) < SMALL)
    return ["/".join(name) for name in few if name[-1] != "__init__" and len(importers.get(name, ())) == 1]


def _subclasses(trees: list[ast.Module]) -> set[str]:
    """Return the names of all classes of mechanisms."""
    bases: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                plain = (base.value if isinstance(base, ast.Subscript) else base for base in node.bases)
                bases.setdefault(node.name, set()).update(base.id for base in plain if isinstance(base, ast.Name))
    found, before = set(ROOTS), set[str]()
    while found != before:
        before, found = found, found | {name for name, those in bases.items() if those & found}
    return found


def questions(tree: ast.Module, kinds: set[str]) -> int:
    """Return how often the class of a mechanism is asked for."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("isinstance", "issubclass")
    ]
    asked = sum(
        any(isinstance(name, ast.Name) and name.id in kinds for arg in call.args[1:] for name in ast.walk(arg))
        for call in calls
    )
    patterns = (node.cls for node in ast.walk(tree) if isinstance(node, ast.MatchClass))
    asked += sum(isinstance(name, ast.Name) and name.id in kinds for name in patterns)
    return asked + sum(map(_in_disguise, ast.walk(tree)))


def _in_disguise(node: ast.AST) -> bool:
    """Whether the kind or the type of a mechanism is compared, or it is looked for an attribute that some lack."""
    if isinstance(node, ast.Call) and (len(node.args), getattr(node.func, "id", None)) in LOOKED:
        return _is_called_so(node.args[0])
    compared = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    compared += [node.subject] if isinstance(node, ast.Match) else []
    kinds = [each.value for each in compared if isinstance(each, ast.Attribute) and each.attr in ("kind", "of_levels")]
    types = [each.args[0] for each in compared if isinstance(each, ast.Call) and ast.unparse(each.func) == "type"]
    return any(map(_is_called_so, kinds + types))


LOOKED = {(2, "hasattr"), (3, "getattr")}
"""Calls by the numbers of their arguments."""


def _is_called_so(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] in CALLED


def _options(trees: list[ast.Module]) -> Iterator[str]:
    """Yield the names of the options that are declared and that help shows: old spellings are hidden."""
    for tree in trees:
        for node in ast.walk(tree):
            hidden = isinstance(node, ast.Call) and any(keyword.arg == "hidden" for keyword in node.keywords)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("typer.Option", "Option") and not hidden:
                named = (arg.value for arg in node.args if isinstance(arg, ast.Constant))
                yield from (name.partition("/")[0] for name in named if str(name).startswith("--"))


if __name__ == "__main__":
    sys.exit(main())
