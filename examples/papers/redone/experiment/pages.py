"""Pages that say what is kept: whole figures, single tables, and numbers in sentences.

A page has `<!-- figure: NAME -->` up to `<!-- end -->` where all that is kept of a figure stands, and above a table
`<!-- table: NAME -->`.  Sentences have no marks: a paper's `said` has each of them with its numbers in double brackets,
and what stands in those places of the page is written, or compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .keeping import COPIED, ROOT, Kept, Shelf

FIGURE = re.compile(r"(<!-- figure: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- table: (\S+) -->\n)(?:\|.*\n)+")
HOLE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
NUMBER = r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?%?"
SOME_NUMBERS = rf"({NUMBER}(?:\s+(?:to|of|±)\s+{NUMBER})*)"
"""What may stand between double brackets: a number, or a span of two, "9% to 31%", "8 of 18", "2 ± 0.1"."""
TENS = re.compile(r"\b\d(?:\.\d+)?e\+0[1-3]\b")
"""Numbers to few digits that plain ones say as well, 4e+01 and 1.45e+03."""
VERDICTS = (("reproduced",), ("partly",), ("not ", "not so", "no "), ("",))
"""How a verdict begins, by the columns of the overview; what is none of these is not testable, or beyond the paper."""

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Telling:
    """What the pages of a paper say of what is kept.

    Parameters
    ----------
    sentences : sequence of str
        Parts of sentences with their numbers in double brackets, "less in [[8 of 18]] cases".
    tables : mapping
        By name, header first: those that are not shown as they are kept.
    """

    sentences: Sequence[str] = ()
    tables: Mapping[str, Rows] = field(default_factory=dict)


Said = Callable[[Shelf], Telling]


def pages_of(paper: str) -> list[Path]:
    """Return the pages that have a paper's numbers: its own, its results, and the two overviews."""
    docs = ROOT / "docs"
    own = [docs / "papers" / f"{paper}.md", ROOT / "examples" / "papers" / "results" / f"{paper}.md"]
    return [*own, docs / "papers.md", docs / "accuracy" / "README.md"]


def write(paper: str, shelf: Shelf, said: Said) -> list[str]:
    """Write what is kept into the pages; return what could not be."""
    texts, wrong = _told(paper, shelf, said)
    for page, (_, new) in texts.items():
        page.write_text(new, encoding="utf-8")
    return wrong


def stale(paper: str, shelf: Shelf, said: Said) -> list[str]:
    """Return where pages say other than what is kept."""
    texts, wrong = _told(paper, shelf, said)
    for page, (old, new) in texts.items():
        before, after = old.splitlines(), new.splitlines()
        lines = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
        if old != new:
            a, b = lines[0] if lines else ("", "more lines, or fewer")
            wrong.append(f"{page.relative_to(ROOT)} says {a!r}, kept is {b!r}: run --render")
    return wrong


def markdown(rows: Rows) -> str:
    """Return a table; the first row is its header."""
    header, *others = rows
    lines = [header, ["---"] * len(header), *others]
    return "".join(f"| {' | '.join(row)} |\n" if row[0] != "---" else f"|{'---|' * len(row)}\n" for row in lines)


def shown(cell: str) -> str:
    """Return a cell of a CSV as pages have it: floats, which are kept in full, to four digits."""
    try:
        return f"{float(cell):.4g}" if cell == repr(float(cell)) else cell
    except ValueError:
        return TENS.sub(lambda found: f"{float(found[0]):.0f}", cell)


def _told(paper: str, shelf: Shelf, said: Said) -> tuple[dict[Path, tuple[str, str]], list[str]]:
    telling, wrong = said(shelf), []
    old = {page: page.read_text(encoding="utf-8") for page in pages_of(paper)}
    new = {page: _figures(_tables(text, telling), shelf, wrong) for page, text in old.items()}
    for sentence in telling.sentences:
        wrong += _say(sentence, new)
    own, _, overview, _ = new
    new[overview] = _counted(paper, new[own], new[overview])
    return {page: (old[page], new[page]) for page in old}, wrong


def _tables(text: str, telling: Telling) -> str:
    return TABLE.sub(lambda found: found[1] + markdown(telling.tables[found[2]]), text)


def _figures(text: str, shelf: Shelf, wrong: list[str]) -> str:
    def whole(found: re.Match[str]) -> str:
        kept = shelf.get(found[2])
        if kept is None:
            wrong.append(f"{found[2]} is not kept: run --keep")
            return found[0]
        wrong.extend(f"{claim} ({seen})" for claim, holds, seen in kept.checks.rows if holds != "yes")
        return found[1] + _whole(found[2], kept) + found[3]

    return FIGURE.sub(whole, text)


def _whole(name: str, kept: Kept) -> str:
    """All that is kept of a figure: what made it, its tables, and what its checks saw."""
    stamp, figure = kept.stamp, f"{name!r}" if " " in name else name
    on = "the real data" if stamp.data else "synthetic data alone"
    made = f"`--figure {figure}`, library at {stamp.commit}, seed {stamp.seed}, {on}, {kept.seconds:.0f} s."
    if stamp.experiment == COPIED:
        made = (
            f"`--figure {figure}`: copied from the page as it was; made with the library at {stamp.commit} or before."
        )
    tables = [
        f"{table.title}:\n\n{markdown([table.header, *map(_shown_row, table.rows)])}" for table in kept.tables[:-1]
    ]
    checks = "".join(f"- {claim}: {seen}.\n" for claim, _, seen in kept.checks.rows)
    return "\n" + "\n".join(part for part in (f"{made}\n", *tables, checks) if part) + "\n"


def _shown_row(row: Sequence[str]) -> list[str]:
    return [shown(cell) for cell in row]


def _say(sentence: str, texts: dict[Path, str]) -> list[str]:
    """Put a sentence's numbers into the pages that have it."""
    pattern = re.compile(_pattern(sentence))
    values = [" ".join(value.split()) for value in HOLE.findall(sentence)]
    said = False
    for page, text in texts.items():
        found = list(pattern.finditer(text))
        if len(found) > 1:
            return [f"{page.relative_to(ROOT)} says {len(found)} times: {sentence}"]
        for match in found:
            said = True
            texts[page] = _filled(text, match, values)
    return [] if said else [f"no page says: {sentence}"]


def _filled(text: str, match: re.Match[str], values: Sequence[str]) -> str:
    for number in range(len(values), 0, -1):
        if " ".join(match[number].split()) != values[number - 1]:  # a line may end within a number's words
            text = text[: match.start(number)] + values[number - 1] + text[match.end(number) :]
    return text


def _pattern(sentence: str) -> str:
    """Return what finds a sentence wherever its lines end, whatever its numbers are."""
    parts = HOLE.sub("\0", sentence).split("\0")
    return SOME_NUMBERS.join(r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in parts)


def _counted(paper: str, page: str, overview: str) -> str:
    """Write how many claims have which verdict into the overview."""
    claims = page.partition("| | claim | verdict |\n")[2].partition("\n\n")[0]
    verdicts = re.findall(r"\| ([^|]+) \|$", claims.partition("\n")[2], re.MULTILINE)
    counts = [0] * len(VERDICTS)
    for verdict in verdicts:
        counts[next(i for i, begins in enumerate(VERDICTS) if verdict.startswith(begins))] += 1
    cells = " | ".join([str(len(verdicts)), *(str(count or "") for count in counts)])
    row = re.compile(rf"(^\|[^|]*\(papers/{paper}\.md\)[^|]*\|[^|]*\|).*$", re.MULTILINE)
    return row.sub(lambda found: re.sub(r" +", " ", f"{found[1]} {cells} |"), overview)


def percent(share: float, digits: int = 0) -> str:
    """Return a share as "12%"."""
    return f"{100 * share:.{digits}f}%".replace("-0%", "0%")


def span(shares: Sequence[float], digits: int = 0) -> str:
    """Return the least and the largest of some shares, "9% to 33%"."""
    return f"{percent(min(shares), digits)} to {percent(max(shares), digits)}"


def between(values: Sequence[float], digits: int = 3) -> str:
    """Return the least and the largest of some numbers to so many significant digits, "1.2 to 3.4"."""
    return f"{min(values):.{digits}g} to {max(values):.{digits}g}"
