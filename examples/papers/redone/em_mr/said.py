"""What the pages say of EM-MR's figures, from what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from ..experiment.keeping import Shelf, Table, numbers
from ..experiment.pages import Telling, between, percent, shown, span

TINY, OURS = "MR, tiny first", "shrunk"
THEIRS = ("unbiased", "BaseCut", "NormSub", "IIW", "EM", "MR", "MR, negative first", TINY, "MR, pruning")
COLUMNS = ("unbiased", "NormSub", "EM", "MR", TINY, "MR, pruning", OURS)
USERS = {"Zipf, K = 64": "43,386", "SF job title, K = 100": "43,386", "IRS state and size, K = 222": "300,000"}


def said(shelf: Shelf) -> Telling:
    """Return the sentences and tables of the pages."""
    every = {oracle: shelf.table(f"figure-4-{oracle}-all") for oracle in ("GRR", "OLH")}
    frequent = [shelf.table(f"figure-4-{oracle}-frequent") for oracle in ("GRR", "OLH")]
    even = [shelf.table(f"figure-7-{oracle}") for oracle in ("GRR", "OLH")]
    sentences = [*_means(shelf), *_boxes(shelf.table("figure-3")), *_frequencies(every), *_frequent(frequent)]
    sentences += [*_even(even), *_times(shelf.table("table-2")), *_steps(shelf.table("figure-6"))]
    sentences += [*_bias(shelf.table("figure-8")), *_distributions(shelf), *_keys(shelf.table("figure-10"))]
    sentences += [*_orders(shelf.table("orders")), *_many(shelf.table("many-users"))]
    return Telling(sentences, {"frequencies": _shown(every)})


def _column(tables: Sequence[Table], name: str) -> list[float]:
    return [value for table in tables for value in table.numbers(name)]


def _ratios(tables: Sequence[Table], name: str, against: str) -> list[float]:
    return [a / b for a, b in zip(_column(tables, name), _column(tables, against), strict=True)]


def _gains(tables: Sequence[Table], name: str, against: str) -> list[float]:
    return [1 - ratio for ratio in _ratios(tables, name, against)]


def _more_to_less(gains: Sequence[float]) -> str:
    """The largest loss and the largest gain, "8%]] more to [[2%"."""
    return f"[[{percent(-min(gains))}]] more to [[{percent(max(gains))}]] less"


def _means(shelf: Shelf) -> list[str]:
    best, cases = numbers(shelf.seen("figure-2", "2,000 users"))[-2:]
    last = shelf.table("figure-2-gains").where("data", "S-MN, 2,000").where("epsilon", "3").rows[0]
    pm, em, mr = map(shown, last[-3:])
    errors = shelf.table("figure-2")
    theirs = [min(row) for row in zip(*(errors.numbers(m) for m in errors.header[2:-1]), strict=True)]
    better = sum(a < b for a, b in zip(errors.numbers("two phases, ours"), theirs, strict=True))
    return [
        f"smallest of the paper's methods, or within a standard error of it, in [[{best} of {cases}]] cases",
        f"of PM, PM-EM and PM-MR is [[{pm}]], [[{em}]] and [[{mr}]] at epsilon 3",
        f"The library's two phases err less than all of these in [[{better} of {len(theirs)}]] cases",
    ]


def _boxes(table: Table) -> list[str]:
    mixed = table.where("data", "S-MN, 2,000")
    parts = {
        place: [-a / b for a, b in zip(found.numbers("MR less EM, paired"), found.numbers("bias PM-EM"), strict=True)]
        for place, found in (("all", table.where("data", "S-MN, 2,000", "SF")), ("S-MN", mixed))
    }
    each = [percent(part) for part in parts["S-MN"]]
    return [
        f"by [[{span(parts['all'])}]] of it in paired runs ([[{span(parts['S-MN'])}]] on S-MN)",
        f"MR removes [[{each[0]}]], [[{each[1]}]], [[{each[2]}]], [[{each[3]}]] and [[{each[4]}]] of EM's bias",
    ]


def _frequencies(every: Mapping[str, Table]) -> list[str]:
    tables = list(every.values())
    mr, tiny, ours = (_gains(tables, name, "EM") for name in ("MR", TINY, OURS))
    raw = {oracle: percent(mean(_gains([table], "MR", "unbiased"))) for oracle, table in every.items()}
    columns = [_column(tables, name) for name in (*THEIRS, OURS)]
    firsts = [min(range(len(columns)), key=lambda i, row=row: row[i]) for row in zip(*columns, strict=True)]
    theirs = [min(range(len(THEIRS)), key=lambda i, row=row: row[i]) for row in zip(*columns, strict=True)]
    over = _gains(tables, OURS, TINY)
    led = [gain for gain, first in zip(over, theirs, strict=True) if first == THEIRS.index(TINY)]
    less, cases = sum(gain > 0 for gain in tiny), len(tiny)
    hashed = percent(mean(_gains([every["OLH"]], TINY, "EM")))
    leads = theirs.count(THEIRS.index(TINY))
    sure, first = sum(gain > 0 for gain in led), firsts.count(len(THEIRS))
    return [
        f"partly: {_more_to_less(mr)} by algorithm 1; what may be noise merged first, {_more_to_less(tiny)}, less in "
        f"[[{less} of {cases}]] cases",
        f"reproduced: [[{raw['GRR']}]] (GRR) and [[{raw['OLH']}]] (OLH) on average",
        f"Algorithm 1 has [[{percent(-mean(mr))}]] more error than EM on average",
        f"OLH has [[{hashed}]] less than EM on average, and it is least of the paper's nine methods in "
        f"[[{leads} of {cases}]] cases",
        f"`shrunk` errs less than that in [[{sure} of {len(led)}]] of these, by [[{span(led)}]]",
        f"and is least of all ten in [[{first} of {cases}]]. It",
        f"It has {_more_to_less(ours)} error than EM",
        f"errors over all categories are from [[{percent(max(tiny))}]] less to [[{percent(-min(tiny))}]] more "
        f"than EM's, and less in [[{less} of {cases}]] cases",
        f"`shrunk`, which is not in the paper, has the least error of all ten in [[{first} of {cases}]] cases",
    ]


def _shown(every: Mapping[str, Table]) -> list[list[str]]:
    """Both oracles at epsilon 1."""
    rows = [["data", "", *COLUMNS]]
    for name, users in USERS.items():
        for oracle, table in every.items():
            one = table.where("data", name).where("epsilon", "1")
            place = f"{name.replace('K = ', '')}, n = {users}" if oracle == "GRR" else ""
            rows.append([place, f"{oracle}, 1", *(one.texts(column)[0] for column in COLUMNS)])
    return rows


def _frequent(tables: Sequence[Table]) -> list[str]:
    ratios = _ratios(tables, OURS, "EM")
    return [f"on the most frequent tenth it has [[{between(ratios, 2)}]] times EM's error"]


def _even(tables: Sequence[Table]) -> list[str]:
    waves, ours = _ratios(tables, "IIW", "EMS"), _ratios(tables, "EM", OURS)
    losses = [-gain for gain in _gains(tables, "MR", "EM")]
    return [
        f"not reproduced: EMS errs [[{between(waves, 2)}]] times less",
        f"MR errs [[{span(losses)}]] more than EM",
        f"`shrunk` errs [[{between(ours, 2)}]] times less than EM",
    ]


def _times(table: Table) -> list[str]:
    def seconds(text: str) -> float:
        return sum(map(float, text.split(" / ")))

    spent = {(row[0], row[1]): seconds(row[4]) for row in table.rows}
    ratios = {
        name: [spent[place, f"{kind}-{name}"] / spent[place, f"{kind}-EM"] for place, kind in kinds]
        for name, kinds in {
            "MR": [(place, kind) for place in ("SFC", "Income") for kind in ("GRR", "OLH", "Laplace")],
            TINY: [(place, kind) for place in ("SFC", "Income") for kind in ("GRR", "OLH")],
        }.items()
    }
    categories = [ratio for ratio, place in zip(ratios["MR"], range(6), strict=True) if place % 3 < 2]
    (income,) = (row[4].split(" / ") for row in table.rows if row[:2] == ("Income", "OLH-EM"))
    return [
        f"[[{between(ratios[TINY], 2)}]] times EM's time with what may be noise merged first; "
        f"[[{between(ratios['MR'], 2)}]] times by algorithm 1",
        f"On the stand-in for Income OLH-EM takes [[{min(income)} to {max(income)}]] s",
        f"MR takes [[{between(ratios['MR'], 2)}]] times as long as EM",
        f"Merging what may be noise first takes [[{between(ratios[TINY], 2)}]] times as long",
        f"It takes [[{between(ratios[TINY], 2)}]] times the time",
        f"[[{between(categories, 2)}]] times [on categories](../papers/em-mr.md)",
    ]


def _steps(table: Table) -> list[str]:
    steps = [float(text.split(":")[0]) for text in table.texts("stop at 0.001")]
    ratios = [mr / em for em, mr in zip(steps[::2], steps[1::2], strict=True)]
    return [f"not reproduced: [[{between(ratios, 3)}]] times as many steps"]


def _bias(table: Table) -> list[str]:
    biased, shift = table.numbers("frequent tenth: EM"), table.numbers("MR less EM, paired")
    at = {epsilon: _parts(table.where("epsilon", epsilon)) for epsilon in ("0.5", "1")}
    ours = [a / b for a, b in zip(table.numbers("frequent tenth: shrunk"), biased, strict=True) if b < -NOTABLE]
    return [
        f"sum over the most frequent tenth is too low in [[{sum(b < 0 for b in biased)} of {len(biased)}]] cases, "
        f"MR's less so in [[{sum(s > 0 for s in shift)}]]",
        f"MR takes off [[{span(at['0.5'])}]] of that bias at 0.5, where it is large, and [[{span(at['1'])}]] at 1",
        f"`shrunk` has [[{between(ours, 2)}]] times EM's",
    ]


NOTABLE = 20.0
"""Thousandths of bias of EM below which a ratio to it says nothing."""


def _parts(table: Table) -> list[float]:
    pairs = zip(table.numbers("MR less EM, paired"), table.numbers("frequent tenth: EM"), strict=True)
    return [-shift / bias for shift, bias in pairs]


def _distributions(shelf: Shelf) -> list[str]:
    table = shelf.table("figure-5-gains")
    of = {(row[0], row[1]): [numbers(cell)[0] for cell in row[2:]] for row in table.rows}
    w1, variance = of["MR", "W1"], of["MR", "variance"]
    parts = [
        f"on average in the Wasserstein distance ([[{w1[0]}%]] to [[{w1[1]}%]])",
        f"[[{variance[2]}%]] in the variance ([[{variance[0]}%]] to [[{variance[1]}%]])",
        f"[[{of['MR', 'quantile'][2]}%]] in quantiles and [[{of['MR', 'range'][2]}%]] in ranges",
    ]
    sentence = f"MR's gain over EM is [[{w1[2]}%]] {parts[0]}, {parts[1]}, {parts[2]}"
    if ("smooth, ours", "W1") not in of:
        return [sentence]
    ours = of["smooth, ours", "W1"]
    return [sentence, f"The library's default gains [[{ours[2]}%]] in the first ([[{ours[0]}%]] to [[{ours[1]}%]])"]


def _keys(table: Table) -> list[str]:
    five = table.where("data", "five keys").where("epsilon", "1.0", "1")
    gains = [float(numbers(text)[0]) for text in five.texts("PM-MR over PCKV-UE")]
    sums = {
        (name, epsilon): [sum(found.numbers(m)) for m in ("PCKV-UE", "PM-MR", "PM-EM", "joint, ours")]
        for name in ("five keys", "ACS")
        for epsilon in ("0.25", "0.5", "1", "2")
        for found in [_at(table.where("data", name), epsilon)]
    }
    over = {key: 1 - mr / ue for key, (ue, mr, _, _) in sums.items()}
    ages = [percent(over["ACS", epsilon]) for epsilon in ("0.25", "0.5", "1")]
    close = [abs(mr / em - 1) for _, mr, em, _ in sums.values()]
    joint = [ours / em for _, _, em, ours in sums.values()]
    keyed = [gain for (name, _), gain in over.items() if name == "five keys"]
    return [
        f"partly: [[{min(gains):.0f}% to {max(gains):.0f}%]] less than PCKV-UE on five synthetic keys at 1, "
        f"[[{ages[2]}]] on average on ages and incomes; plain EM does the same within [[{percent(max(close))}]]",
        f"Averaged over keys they have [[{span(keyed)}]] less squared error than PCKV-UE on five synthetic keys",
        f"On ages and incomes it is [[{ages[0]}]], [[{ages[1]}]] and [[{ages[2]}]] less at 0.25, 0.5 and 1, and "
        f"[[{percent(-over['ACS', '2'])}]] more at 2",
        f"The joint likelihood has [[{between(joint, 2)}]] times EM's, less in "
        f"[[{sum(ratio < 1 for ratio in joint)} of {len(joint)}]] cases",
    ]


def _at(table: Table, epsilon: str) -> Table:
    place = table.header.index("epsilon")
    return Table(table.name, table.title, table.header, tuple(row for row in table.rows if row[place] == epsilon))


def _orders(table: Table) -> list[str]:
    grr, olh = table.numbers("GRR's variance / its order"), table.numbers("OLH's variance / its order")
    return [
        f"over its order is [[{between(grr, 2)}]] for GRR and [[{min(olh):.0f} to {max(olh):.0f}]] for OLH",
    ]


def _many(table: Table) -> list[str]:
    above = table.where("users", "300,000", "1,000,000").where("epsilon", "3.0", "4.0")
    leads = above.numbers("lead of PM over PM-EM, standard errors")
    gains = _gains([above], "PM", "PM-EM")
    return [
        f"PM's sample mean has [[{span(gains)}]] less error than EM's in the [[{len(gains)}]] cases, by more than two "
        f"standard errors in [[{sum(lead > 2 for lead in leads)}]]",
    ]
