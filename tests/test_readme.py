"""What the README shows works."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example_runs_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python block derives, writes, samples and estimates, and prints a closed certificate."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 1
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks[0], str(README), "exec"), {})
    variance, bound, gap = map(float, capsys.readouterr().out.split()[:3])
    assert 0 < gap <= 1e-6
    assert variance == pytest.approx(bound, rel=1e-3)
    assert (tmp_path / "mech.json").exists()


def test_every_relative_link_of_the_readme_leads_somewhere() -> None:
    """Linked files are in the repository."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README.read_text()) if "://" not in link]
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
