"""What the README shows works, and it is short."""

import re
from pathlib import Path

import pytest

from .test_documentation import without_numbers

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.slow
def test_the_first_example_runs_and_prints_what_stands_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A certificate that is closed, a table, and an interval that is as long as the one shown."""
    ((code, shown),) = re.findall(r"```python\n(.*?)```.*?```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert without_numbers(printed) == without_numbers(shown)
    assert printed.splitlines()[0] == shown.splitlines()[0]
    assert (tmp_path / "mech.json").exists()
    low, high = (float(end.replace(",", "")) for end in re.findall(r"\[([\d,]+), ([\d,]+)\]", shown)[0])
    mean = names["mean"]
    assert mean.high - mean.low == pytest.approx(high - low, rel=0.1)  # pyright: ignore[reportAttributeAccessIssue]


def test_the_readme_is_short_and_says_first_what_it_is_then_how_to_install_it() -> None:
    lines = README.read_text().splitlines()
    assert len(lines) < 80
    assert next(line for line in lines if line.startswith("## ")) == "## Install"
    assert any(line.startswith("![") for line in lines[: lines.index("## Install")])


def test_every_relative_link_of_the_readme_leads_somewhere() -> None:
    """Linked files are in the repository."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README.read_text()) if "://" not in link]
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
