"""Run a benchmark that is not of a page, by its room and name: python benchmarks objectives.biased [ARGUMENT ...]."""

import runpy
import sys

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f"error: a benchmark must be named, got none: {(__doc__ or '').partition(': ')[2].strip()}")
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
