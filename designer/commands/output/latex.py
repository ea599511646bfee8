"""A table for a paper: LaTeX, without packages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}

_POWER = re.compile(r"^(-?[0-9.]+)e([+-]?)0*([0-9]+)$")


def latex_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Return a tabular whose first column is on the left and whose others are on the right.

    Numbers have six digits at most; text is escaped; what is None is a dash.

    Example
    -------
    >>> print(latex_table(["method", "gap"], [["k_ary", 2.5e-07], ["em", None]]))
    \begin{tabular}{lr}
    \hline
    method & gap \\
    \hline
    k\_ary & $2.5\cdot 10^{-7}$ \\
    em & -- \\
    \hline
    \end{tabular}
    """
    lines = [" & ".join(map(_cell, row)) + r" \\" for row in (header, *rows)]
    return "\n".join(
        [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\hline", lines[0], r"\hline", *lines[1:], r"\hline",
         r"\end{tabular}"]
    )  # fmt: skip


COLUMNS = (
    "objective", "method", "epsilon", "value", "bound", "expected_variance", "worst_case_variance", "ratio_to_optimal",
    "variance_times_n", "ratio", "error", "people",
)  # fmt: skip
"""What a paper has a use for, of all that rows say."""


def write_latex(out: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write what a paper has a use for of rows of the same names, but for columns in which every row has nothing."""
    from ....mechanisms.files.atomic_write import replacing

    names = [name for name in COLUMNS if any(row.get(name) not in (None, "") for row in rows)]
    header = [name.replace("_", " ") for name in names]
    with replacing(out) as part:
        part.write_text(latex_table(header, [[row[name] for name in names] for row in rows]) + "\n", "utf-8")


def _cell(value: object) -> str:
    if value is None:
        return "--"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    if power := _POWER.match(text):
        return rf"${power[1]}\cdot 10^{{{power[2].replace('+', '')}{power[3]}}}$"
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
