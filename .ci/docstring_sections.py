"""Every exported function and class says what it is, what it takes and returns, and shows an example.

A summary, a line for each parameter and for none that there is not, Returns where something is returned, each error on
a line of its own, and an Example: of each name that a stub exports. numpydoc's own check knows neither `Example` nor
`Source` and brings Sphinx.
"""

import enum
import importlib
import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))
from check_site import LAYERS, ROOMS

PACKAGES = ("optldp", *(f"optldp.{package}" for package in LAYERS + ROOMS))
SECTION = re.compile(r"^([A-Z][a-z]+)\n-+\n", re.MULTILINE)
PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :|$)", re.MULTILINE)

ERRORS = re.compile(r"^[A-Z]\w*(?:, [A-Z]\w*)*$")


def faults(thing: object) -> list[str]:
    """Return what the docstring of a function or class lacks, in a few words each."""
    summary, sections = parts_of(thing)
    taken, returns = signature_of(thing)
    named = names_in(sections.get("Parameters", ""))
    lacks = [] if summary.strip() else ["no summary"]
    lacks += [f"a parameter {name} that it does not take" for name in sorted(named - taken)] if taken else []
    if inspect.isclass(thing):  # a result's fields are attributes to its reader; some are told of by what it extends
        told = [sections for _, sections in map(parts_of, thing.__mro__)]
        named = names_in("\n".join(each.get(kind, "") for each in told for kind in ("Parameters", "Attributes")))
    lacks += [f"no parameter {name}" for name in sorted(taken - named)]
    lacks += ["no Returns"] if returns and not sections.get("Returns", "").strip() else []
    raised = sections.get("Raises", "").split("\n\n")[0].splitlines()
    lacks += [f"no line of its own for {line!r:.40}" for line in raised if line[:1] != " " and not ERRORS.match(line)]
    return lacks + ([] if ">>> " in sections.get("Example", "") else ["no Example"])


def parts_of(thing: object) -> tuple[str, dict[str, str]]:
    """Return what a docstring says before its sections, and its sections."""
    parts = SECTION.split(inspect.cleandoc(getattr(thing, "__doc__", None) or ""))
    return parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))


def names_in(section: str) -> set[str]:
    return {name.lstrip("*") for names in PARAMETER.findall(section) for name in names.split(", ")}


def signature_of(thing: object) -> tuple[set[str], bool]:
    """Return the names that a call takes, and whether it hands something back, which a class need not say."""
    if inspect.isclass(thing) and (issubclass(thing, BaseException | enum.Enum) or inspect.isabstract(thing)):
        return set(), False  # no reader calls it
    signature = inspect.signature(thing)  # pyright: ignore[reportArgumentType] -- a function or a class
    nothing = inspect.isclass(thing) or signature.return_annotation in (None, "None")
    return {name for name in signature.parameters if not name.startswith("_")}, not nothing


def exported() -> dict[str, object]:
    """Return the functions and classes that the packages export, each once, by the place of its source."""
    found: dict[str, object] = {}
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                found[f"{thing.__module__}.{thing.__qualname__}"] = thing
    return found


if __name__ == "__main__":
    told = {name: faults(thing) for name, thing in exported().items()}
    print("\n".join(f"{name}: {', '.join(lacks)}" for name, lacks in told.items() if lacks))
    print(f"docstrings: {sum(not lacks for lacks in told.values())} of {len(told)} complete")
    sys.exit(any(told.values()))
