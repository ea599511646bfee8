# What a contributor needs, in five commands: `just` lists them. Each line runs as it stands, too, without just.
# The virtual environment of CONTRIBUTING.md is in .venv; `just python=python3 test` takes another Python.

python := ".venv/bin/python"

_list:
    @just --list --unsorted

# the quick tests, or those named: just test tests/mechanisms -n 0
test *arguments:
    {{python}} -m pytest {{arguments}}

# all that CI tests: the quick ones, then the slow ones
test-everything *arguments:
    {{python}} -m pytest {{arguments}}
    {{python}} -m pytest -m "slow and not nightly" {{arguments}}

# lint, format, types, walls between rooms, docstrings and their examples
check:
    {{python}} -m ruff check .
    {{python}} -m ruff format --check .
    .ci/types {{python}}
    .ci/walls {{python}}
    {{python}} .ci/docstring_sections.py
    {{python}} .ci/docstring_examples.py

# the documentation site, built strictly and checked
docs:
    .ci/docs_site {{python}}

# what a release consists of, from the last commit, into a new or empty folder
release folder="dist":
    .ci/packaging/release {{python}} {{folder}}
