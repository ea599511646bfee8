"""The house's docstrings for the reference: an example is called `Example`, and sources come before the sections."""

import re

from griffe import Alias, Extension, Object

EXAMPLE = re.compile(r"^Example\n-+$", re.MULTILINE)
REMARK = re.compile(r"^(Source: |Source\n-+\n|(?=Raises \w+Error ))(.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
CHOICES = re.compile(r"^( *\w[\w, ]* : )\{(.+)\}", re.MULTILINE)
SECTION = re.compile(r"^[A-Z][a-z]+\n-+$", re.MULTILINE)


class HouseSections(Extension):
    """Rename examples as griffe knows them, and keep remarks from being read as items of the section above."""

    def on_object(self, *, obj: Object | Alias, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = in_numpydoc(obj.docstring.value)


def in_numpydoc(text: str) -> str:
    """Return a docstring of this house as numpydoc has it."""
    remarks = "".join(f"{'**Source.** ' if mark else ''}{said.strip()}\n\n" for mark, said in REMARK.findall(text))
    text = EXAMPLE.sub("Examples\n--------", REMARK.sub("", text))
    text = CHOICES.sub(r"\1one of \2", text)  # griffe takes the first of a set for the default
    first = SECTION.search(text)
    if not first:
        return f"{text.rstrip()}\n\n{remarks}".rstrip()
    return f"{text[: first.start()]}{remarks}{text[first.start() :]}"
