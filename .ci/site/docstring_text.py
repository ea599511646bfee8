"""The house's docstrings for the reference: an example is called `Example`, and sources come before the sections.

A name in backticks that has a page leads to it, if it has a capital or a low line: other words mean many things.
"""

import re

from site_reference import TOP, addresses

EXAMPLE = re.compile(r"^Example\n-+$", re.MULTILINE)
REMARK = re.compile(r"^(Source: |Source\n-+\n|(?=Raises \w+Error ))(.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
CHOICES = re.compile(r"^( *\w[\w, ]* : )\{(.+)\}", re.MULTILINE)
NAME = re.compile(r"(?<![`\w])`(\w+)`(?!`)")
SECTION = re.compile(r"^[A-Z][a-z]+\n-+$", re.MULTILINE)


def in_numpydoc(text: str) -> str:
    """Return a docstring of this house as numpydoc has it."""
    remarks = "".join(f"{'**Source.** ' if mark else ''}{said.strip()}\n\n" for mark, said in REMARK.findall(text))
    remarks = NAME.sub(linked, remarks)
    text = EXAMPLE.sub("Examples\n--------", REMARK.sub("", text))
    said, example, shown = text.partition("Examples\n--------")
    text = NAME.sub(linked, said) + example + shown
    text = CHOICES.sub(r"\1one of \2", text)  # griffe takes the first of a set for the default
    first = SECTION.search(text)
    if not first:
        return f"{text.rstrip()}\n\n{remarks}".rstrip()
    return f"{text[: first.start()]}{remarks}{text[first.start() :]}"


def linked(name: re.Match[str]) -> str:
    """Return a name as a reference to its page, if it has one."""
    full = [
        each for each in addresses() if each.endswith(f".{name[1]}") and not each.startswith(f"{TOP}.designer.plots.")
    ]
    told = "_" in name[1] or name[1][:1].isupper()
    return f"[{name[0]}][{full[0]}]" if full and told else name[0]
