"""Run every docstring example of the installed package, warnings as errors, or with --exported those of exported names.

Those of exported names, and of what they offer, run in an empty namespace, as for a reader who pastes them.
"""

import doctest
import importlib
import pkgutil
import sys
import warnings

from docstring_sections import exported

warnings.simplefilter("error")
failed = tried = 0
names = ["optldp"]
for layer in ("mechanisms", "solvers", "estimators", "designer"):
    package = importlib.import_module(f"optldp.{layer}")
    names += [module.name for module in pkgutil.walk_packages(package.__path__, f"optldp.{layer}.")]
public, runner = set(exported()), doctest.DocTestRunner()
for name in names:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder().find(module):
        of_class, _, _ = test.name.rpartition(".")
        if {test.name, of_class} & public:
            test.globs = {"__name__": "__main__"}
        elif "--exported" in sys.argv[1:]:
            continue
        result = runner.run(test)
        failed, tried = failed + result.failed, tried + result.attempted
print(f"docstring examples: {tried - failed} passed, {failed} failed")
sys.exit(bool(failed or not tried))
