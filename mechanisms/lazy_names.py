"""A package's public names, said once: in the stub beside it, and loaded on first use.

Type checkers and readers read the stub (`__init__.pyi`); at run time the same file says where each name lives. That is
what `lazy_loader.attach_stub` does (scientific-python's SPEC 1), which is not used because this folder must need numpy
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def lazy_names(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose names are those that its stub imports.

    Parameters
    ----------
    package, file : str
        The package's `__name__` and `__file__`.

    Raises AttributeError for a name that the stub has not.

    Example
    -------
    >>> import optldp.mechanisms
    >>> _, _, names = lazy_names("optldp.mechanisms", optldp.mechanisms.__file__)
    >>> "TabulatedMechanism" in names
    True
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: (node.level, node.module) for node in imports for alias in node.names}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        level, module = homes[name]
        if module is None:
            return import_module("." * level + name, package)
        return getattr(import_module("." * level + module, package), name)

    names = sorted(homes)
    return load, lambda: names, names
