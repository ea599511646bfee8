"""What the pages say of PLDP-FEBSF's figures, from what is kept of them."""

from __future__ import annotations

from ..experiment.keeping import Shelf, Table, numbers
from ..experiment.pages import Telling, between, percent, shown, span

SHOWN = ("RCF", "APLDP", "PPDA", "AUEM", "EMOA as printed", "EMOA as released", "likelihood", "shrunk", "even")
"""Columns of the page's table."""


def said(shelf: Shelf) -> Telling:
    """Return the sentences and tables of the pages."""
    cases = shelf.table("figure-7")
    even = cases.where("users", "even")
    rows = [["data", *SHOWN]]
    rows += [[row[0], *(shown(row[even.header.index(name)]) for name in SHOWN)] for row in even.rows]
    sentences = [*_sizes(shelf.table("figure-3")), *_cases(cases), *_pairs(shelf.table("figure-5"))]
    return Telling([*sentences, *_equations(shelf), *_theorems(shelf)], {"levels": rows})


def _ratios(table: Table, name: str, against: str) -> list[float]:
    return [a / b for a, b in zip(table.numbers(name), table.numbers(against), strict=True)]


def _gains(table: Table, name: str, against: str) -> list[float]:
    return [1 - ratio for ratio in _ratios(table, name, against)]


def _sizes(table: Table) -> list[str]:
    few, many = table.where("categories", "8"), table.where("categories", "64")
    at = {name: (few.number(name), many.number(name)) for name in ("RCF", "likelihood", "shrunk")}
    return [
        f"RCF has [[{at['RCF'][0]:.3g}]] at 8 categories and [[{at['RCF'][1]:.3g}]] at 64",
        f"the likelihood's from [[{at['likelihood'][0]:.3g}]] to [[{at['likelihood'][1]:.3g}]], `shrunk`'s from "
        f"[[{at['shrunk'][0]:.3g}]] to [[{at['shrunk'][1]:.3g}]]",
    ]


def _cases(table: Table) -> list[str]:
    country = table.where("data", "Country")
    rivals = ("AUEM", "AUEM clipped", "EMOA as printed", "EMOA as released")
    least = [min(row) for row in zip(*(table.numbers(name) for name in rivals), strict=True)]
    ours = {
        name: sum(a < b for a, b in zip(table.numbers(name), least, strict=True)) for name in ("likelihood", "shrunk")
    }
    better = [1 / ratio for other in ("RCF", "APLDP") for ratio in _ratios(country, "likelihood", other)]
    emoa = [ratio for name in ("EMOA as released",) for ratio in _ratios(table, name, "RCF")]
    recycled = [ratio - 1 for ratio in _ratios(table, "RCF, recycling", "RCF")]
    shrunk = _ratios(table, "shrunk", "likelihood")
    return [
        f"as released it has [[{min(emoa):.0f} to {max(emoa):.0f}]] times RCF's error",
        f"EMOA as printed ends within [[{percent(max(abs(g) for g in _gains(table, 'EMOA as printed', 'even')))}]] of",
        f"Both ours err less than everything else that protects the level, the likelihood in [[{ours['likelihood']}]] "
        f"and `shrunk` in [[{ours['shrunk']}]] of [[{len(least)}]] cases",
        f"the likelihood beats them by a factor of [[{between(better, 2)}]] on Country",
        f"`shrunk` has [[{between(shrunk, 2)}]] times the likelihood's error",
        f"Recycling takes nothing off RCF's error: it adds [[{span(recycled)}]]",
    ]


def _pairs(table: Table) -> list[str]:
    random, true = "PBP, random shares", "PBP, true shares"
    losses = [-gain for gain in _gains(table, "AUEM", true)]
    return [
        f"[[{span(_gains(table, 'EMOA as released', random))}]] as released, over random shares; "
        f"[[{span(_gains(table, 'EMOA as printed', random))}]] as printed",
        f"Against those AUEM gains [[{span(_gains(table, 'AUEM', random))}]]",
        f"Against PBP with the true shares it loses [[{span(losses)}]]",
        f"Over PBP with the true shares `shrunk` gains [[{span(_gains(table, 'shrunk', true))}]]",
    ]


def _equations(shelf: Shelf) -> list[str]:
    table = shelf.table("drift")
    at = {row[0]: shown(row[1]) for row in table.rows}
    few = {name: f"{float(value):.3g}" for name, value in at.items()}
    return [
        f"AUEM has an MSE of [[{few['AUEM']}]], EMOA [[{few['EMOA, 1 steps']}]] after one step and "
        f"[[{few['EMOA, 4 steps']}]] after four, the joint likelihood [[{few['likelihood']}]]"
    ]


def _theorems(shelf: Shelf) -> list[str]:
    table = shelf.table("theorems")
    own, sure = table.where("budgets", "0.1 to 1.0"), table.where("budgets", "1 and 2")
    ratio = "the same / delta method's"
    ((share, expected),) = shelf.table("theorem-5-1").rows
    small = own.where("epsilon_p", "0.1")
    worst = max(
        abs(a / b)
        for a, b in zip(small.numbers("bias of AUEM, mean"), small.numbers("the delta method's"), strict=True)
    )
    near = numbers(shelf.seen("theorems", "theorem 5.2"))[0]
    one = sure.where("epsilon_p", "1")
    printed = one.numbers("theorem 5.3, V1 and V2 over N²")
    true = one.numbers("standard deviation")
    known = f"a share of [[{float(share):g}]] whose holders all take the least budget is estimated as"
    return [
        f"{known} [[{float(expected):.3f}]]",
        f"its bias is at most [[{near}]] of its standard deviation from epsilon_p 1 on; at 0.1 it is up to "
        f"[[{worst:.2f}]] of what the delta method gives",
        f"[[{between(sure.numbers(ratio), 2)}]] times the truth for budgets 1 and 2, "
        f"[[{between(own.numbers(ratio), 2)}]] times for the paper's ten",
        f"With budgets 1 and 2 and epsilon_p 1 its standard deviation is [[{between([v / 1e3 for v in printed], 3)}]], "
        f"that of simulated estimates [[{between([v / 1e3 for v in true], 3)}]]",
    ]
