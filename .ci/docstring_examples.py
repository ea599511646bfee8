"""Run every docstring example of the installed package, warnings as errors."""

import doctest
import importlib
import pkgutil
import sys
import warnings

warnings.simplefilter("error")
failed = tried = 0
names = ["optldp"]
for layer in ("mechanisms", "solvers", "estimators", "designer"):
    package = importlib.import_module(f"optldp.{layer}")
    names += [module.name for module in pkgutil.walk_packages(package.__path__, f"optldp.{layer}.")]
for name in names:
    result = doctest.testmod(importlib.import_module(name))
    failed, tried = failed + result.failed, tried + result.attempted
print(f"docstring examples: {tried - failed} passed, {failed} failed")
sys.exit(bool(failed or not tried))
