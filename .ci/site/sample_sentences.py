"""Draw sentences at random, to be judged one by one: sample_sentences.py [--of pages] [--seed N] [--count N].

What it prints is one sentence a line, with its number and where it stands. `docs/sentences.md` keeps the verdicts.
`--of` names what to draw from: `pages` of the guides, `docstrings` of exported names, `help` of commands, `messages`.
Code, tables, headings, formulas in boxes and lists of names are left out; so are pages that are made from code.
"""

import argparse
import ast
import importlib
import inspect
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from check_site import LAYERS, ROOMS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MADE = ("architecture.md", "sentences.md")
"""Made from the code, and the page of the verdicts."""

FOLDERS = (".", "how-to", "studies", "theory")
"""Of pages that people write; accuracy and papers are mostly tables that scripts make."""

LEFT_OUT = re.compile(r"^ *```.*?^ *```$|<!--.*?-->|^\$\$.*?\$\$|^#.*?$|^ *\|.*?$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"^ *(?:(?:[-*]|\d+\.|>) |!!!.*)", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[)*_\"]*\s+(?=[A-Z*`$(\[\"_])")
SECTIONS = re.compile(
    r"^(?:Example|Source)\n-+\n.*?(?=^[A-Z][a-z]+\n-+\n|\Z)|^\w[^\n]* : .*?$|^-+$", re.DOTALL | re.MULTILINE
)
"""Of a docstring: examples, sources, and the lines that name a parameter and its type."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose that end in a stop and have three words or more."""
    prose = ITEM.sub("\n\n", LEFT_OUT.sub("\n\n", text))
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", prose)]
    found = [each for paragraph in paragraphs for each in END.split(paragraph)]
    return [each for each in found if re.search(r"[.!?:][)*_\"]*$", each) and len(each.split()) > 2]


def of_pages() -> Iterator[tuple[str, str]]:
    pages = sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md") if page.name not in MADE)
    yield from ((page.relative_to(DOCS).as_posix(), each) for page in pages for each in sentences(page.read_text()))


def of_docstrings() -> Iterator[tuple[str, str]]:
    for package in ("optldp", *(f"optldp.{package}" for package in LAYERS + ROOMS)):
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                text = SECTIONS.sub("\n\n", inspect.cleandoc(thing.__doc__ or ""))
                yield from ((f"{package}.{name}", each) for each in sentences(re.sub(r"^>>>.*$", "", text)))


def of_help() -> Iterator[tuple[str, str]]:
    import typer
    from optldp.designer.command_line import app

    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        said = {name: command.help.split("\b")[0]}
        said |= {f"{name} {each.opts[0]}": each.help for each in command.params if getattr(each, "help", None)}
        yield from ((where, part) for where, text in said.items() for part in re.split(r"(?<=[.;])\s+", text.strip()))


def of_messages() -> Iterator[tuple[str, str]]:
    for path in (path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Raise) and getattr(getattr(node, "func", None), "id", "") != "say":
                continue
            parts = [each for each in ast.walk(node) if isinstance(each, ast.JoinedStr)]
            inside = {id(part) for each in parts for part in ast.walk(each)}
            whole = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and id(each) not in inside]
            said = [" ".join(ast.unparse(each).split()) for each in (*parts, *whole)]
            yield from ((f"{path.relative_to(ROOT)}:{node.lineno}", each) for each in said if len(each.split()) > 3)


KINDS = {"pages": of_pages, "docstrings": of_docstrings, "help": of_help, "messages": of_messages}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--of", choices=KINDS, default="pages")
    options.add_argument("--seed", type=int, default=38)
    options.add_argument("--count", type=int, default=200)
    wanted = options.parse_args()
    everything = list(dict.fromkeys(KINDS[wanted.of]()))
    drawn = random.Random(wanted.seed).sample(everything, wanted.count)
    for number, (where, sentence) in enumerate(sorted(drawn), 1):
        print(f"{number}\t{where}\t{sentence}")


if __name__ == "__main__":
    main()
