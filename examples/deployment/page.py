"""The page: the estimate with its interval, and what the monitor says of each table and day."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

MOST_DAYS = 31

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  --ground: #f6f7f9; --card: #fff; --ink: #17202b; --soft: #566272; --line: #d8dde4; --own: #1f6fd1;
  --good: #17703c; --bad: #b3261e; color: var(--ink); background: var(--ground); }
@media (prefers-color-scheme: dark) { :root { --ground: #10151c; --card: #1a212b; --ink: #e8edf3; --soft: #a3afbd;
  --line: #36414f; --own: #6aaaf7; --good: #6fd39a; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; }
main { max-width: 54rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem;
  margin-bottom: 1rem; }
p { margin: .25rem 0; max-width: 46rem; }
.value { font-size: 2.25rem; font-weight: 700; color: var(--own); line-height: 1.2; }
.note { color: var(--soft); font-size: .875rem; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; margin-top: .75rem; }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: nowrap; }
@media (max-width: 30rem) { section { padding: 1rem; } th, td { padding: .25rem .2rem; } }
table, .value, p { font-variant-numeric: tabular-nums; }
"""


def write_page(folder: Path, question: str, answer: Mapping[str, Any] | None, monitors: Mapping[str, Any]) -> None:
    """Write `estimate.html` into a folder, whole or not at all.

    Parameters
    ----------
    folder : path
    question : str
        What was asked.
    answer : mapping, optional
        What `optldp estimate --json` says, if there is enough to estimate from.
    monitors : mapping
        What `optldp monitor --json` says, by the name of a table's file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "estimate.new"
    made.write_text(page(question, answer, monitors), "utf-8")
    made.replace(folder / "estimate.html")


def page(question: str, answer: Mapping[str, Any] | None, monitors: Mapping[str, Any]) -> str:
    """Return the page as HTML; it loads nothing."""
    name = escape(question)
    sections = [_estimate(name, answer), *(_monitor(escape(table), told) for table, told in monitors.items())]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Estimate of {name}</title><style>{STYLE}</style></head>
<body><main><h1>What the reports say of {name}</h1>
{"".join(sections)}
</main></body></html>
"""


def _estimate(name: str, answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        few = "Too few reports yet: a day is counted once it has enough."
        return f'<section><h2>Mean of {name}</h2><p class="note">{few}</p></section>'
    value, low, high = (f"{answer[key]:,.0f}" for key in ("value", "low", "high"))
    return f"""<section><h2>Mean of {name}</h2><p class="value">{value}</p>
<p>{answer["confidence"]:.0%} interval: {low} to {high}</p>
<p class="note">From {answer["n"]:,} private reports; standard error {answer["std_error"]:,.0f}.</p></section>
"""


def _monitor(table: str, told: Mapping[str, Any]) -> str:
    wrong = "".join(f'<p class="bad">{escape(str(fault))}</p>' for fault in told["wrong"])
    fit = told["fit_p_value"]
    said = "" if fit is None else f" Fit of the reports to the table: p = {fit:.3f}."
    rows = "".join(
        f"<tr><td>{escape(day['day'])}</td><td>{day['n']:,}</td><td>{day['waiting']:,}</td><td>{day['late']:,}</td>"
        f"<td>{day['invalid']:,}</td></tr>"
        for day in told["days"][-MOST_DAYS:]
    )
    return f"""<section><h2>Table {table}</h2>{wrong or '<p class="good">Nothing is wrong.</p>'}
<p class="note">{told["n"]:,} reports counted.{said}</p>
<table><thead><tr><th scope="col">Day</th><th scope="col">Counted</th><th scope="col">Waiting</th>
<th scope="col">Late</th><th scope="col">Invalid</th></tr></thead><tbody>{rows}</tbody></table></section>
"""
