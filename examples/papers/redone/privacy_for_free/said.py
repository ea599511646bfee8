"""What the pages say of the figures of "Privacy for Free", from what is kept of them."""

from __future__ import annotations

from ..experiment.keeping import Shelf, Table, numbers
from ..experiment.pages import Telling, percent, shown, span

SERVICES = ("SR", "Laplace", "PM", "SW", "UA", "UWA")


def said(shelf: Shelf) -> Telling:
    """Return the sentences and tables of the pages."""
    sentences = [*_means(shelf), *_bias(shelf), *_unequal(shelf), *_decoder(shelf), *_distributions(shelf)]
    sentences += [
        *_dimensions(shelf),
        *_convergence(shelf),
        *_services(shelf),
        *_times(shelf.table("table-1")),
        *_asking(shelf),
    ]
    return Telling(sentences, {"means": _shown(shelf), "gains": _gains(shelf.table("figure-4-distribution-gains"))})


def _means(shelf: Shelf) -> list[str]:
    gains = {row[0]: row[1:] for row in shelf.table("figure-4-gains").rows}
    raw = shelf.table("figure-4-raw-gains").rows[-1][1:]
    equal = numbers(shelf.seen("figure-4-means", "UA and UWA"))
    least, most = gains["UWA over UA"]
    price = sorted(abs(float(gain)) for gain in gains["population over UWA"])
    decoded = shelf.table("figure-4-means").where("data", "Beta(2,5)").where("epsilon", "0.1").number("UA")
    weighed = shelf.table("figure-4-raw").where("data", "Beta(2,5)").where("epsilon", "0.1").number("UWA")
    return [
        f"(figure 4) | reproduced: [[{equal[0]}% to {equal[1]}%]] |",
        f"averaged raw: [[{raw[0]}% to {raw[1]}%]]; decoded first, which is better for both, [[{least}% to {most}%]]",
        f"UA of decoded reports has [[{percent(1 - decoded / weighed)}]] less variance than UWA of raw ones at 0.1",
        f"It has no bias and [[{price[0]}% to {price[1]}%]] more variance",
        f"by [their scatter](../papers/privacy-for-free.md) [[{least}% to {most}%]] less variance",
    ]


def _shown(shelf: Shelf) -> list[list[str]]:
    """Means of decoded and of raw reports, at the ends of the budgets."""
    ours = shelf.table("figure-4-ours")
    rows = [["epsilon", "reports", *SERVICES, "population", "joint decoder"]]
    for kind, name in (("decoded", "figure-4-means"), ("raw", "figure-4-raw")):
        for epsilon in ("0.1", "0.6"):
            one = shelf.table(name).where("data", "Beta(2,5)").where("epsilon", epsilon)
            cells = [shown(one.texts(column)[0]) for column in SERVICES]
            best = ours.where("budgets", f"all at {epsilon}").texts("joint decoder, ours")[0]
            own = [shown(one.texts("population")[0]), shown(best)] if kind == "decoded" else ["", ""]
            rows.append([epsilon, kind, *cells, *own])
    return rows


def _bias(shelf: Shelf) -> list[str]:
    largest = {row[0]: row[2] for row in shelf.table("bias").rows}
    square = {row[0]: row[-1].lstrip("+") for row in shelf.table("figure-4-bias").rows}
    return [
        f"the largest bias is [[{float(largest['0.1']):.6f}]] at epsilon 0.1, [[{largest['1']}]] at 1 and "
        f"[[{largest['3']}]] at 3",
        f"its square is [[{square['0.5']}]] of the variance at epsilon 0.5 and [[{square['0.6']}]] at 0.6",
    ]


def _unequal(shelf: Shelf) -> list[str]:
    least, most, average = numbers(shelf.seen("figure-5-means", "UWA is better"))
    span = f"{float(least):.0f}% to {float(most):.0f}%"
    return [
        f"reproduced: [[{span}]], [[{average}%]] on average",
        f"UWA is [[{span}]] better than the best single service; UA is worse",
    ]


def _decoder(shelf: Shelf) -> list[str]:
    least, most = numbers(shelf.seen("figure-4-ours", "the joint decoder"))
    return [f"the joint decoder has [[{least}% to {most}%]] less variance than UWA"]


def _gains(table: Table) -> list[list[str]]:
    """Least, most and mean gain by each algorithm, and in how many cases there is one."""
    names = {"best single": "the best of the three in each repetition", "smooth, ours": "the library's default"}
    rows = [["gain of ULE over", "EMS: least, most, mean", "cases", "plain EM: least, most, mean", "cases"]]
    ems, em = (table.where("algorithm", algorithm).rows for algorithm in ("EMS", "EM"))
    ems = [row for row in ems if row[0] == "EMS"]
    em = [row for row in em if row[0] == "EM"]
    for first, second in zip(ems, em, strict=True):
        cells = [cell for row in (first, second) for cell in (", ".join(f"{x}%" for x in row[2:5]), row[5])]
        rows.append([names.get(first[1], first[1]), *cells])
    return rows


def _distributions(shelf: Shelf) -> list[str]:
    table = shelf.table("figure-4-distribution-gains")
    cases = {(row[0], row[1]): row[5] for row in table.rows}
    unequal = {(row[0], row[1]): row[2:] for row in shelf.table("figure-5-distribution-gains").rows}
    ems, em = unequal["EMS", "best single"], unequal["EM", "best single"]
    pm, sw = (numbers(cases["EM", name])[0] for name in ("PM", "SW"))
    of = numbers(cases["EM", "SW"])[1]
    alike = shelf.table("figure-6-distributions")
    alone = {row[1]: row for row in alike.rows if row[0] == "Beta+Sin, EM"}
    gains = {}
    for family, row in alone.items():
        place = alike.header.index("ULE")
        *single, ule = (float(numbers(cell)[0]) for cell in row[2 : place + 1])
        gains[family] = f"{100 * (1 - ule / min(single)):+.0f}%"
    return [
        f"ULE gains [[{gains['SR']}]] on the best budget with SR, [[{gains['PM']}]] with PM and [[{gains['SW']}]] "
        "with SW",
        f"better than SR in all, than PM in [[{pm}]] and than SW in [[{sw} of {of}]]",
        f"by EMS in all [[{numbers(ems[3])[1]}]] cases, by [[{ems[0]}% to {ems[1]}%]]; by algorithm 3 as printed, "
        f"plain EM, in [[{em[3]}]], by [[{em[0]}% to {em[1]}%]]",
    ]


def _dimensions(shelf: Shelf) -> list[str]:
    means, laws = (shelf.table(f"figure-6-dimension{name}") for name in ("s", "-distributions"))
    best = [min(row) for row in zip(*(means.numbers(name) for name in SERVICES[:4]), strict=True)]
    gains = [1 - x / b for method in ("UA", "UWA") for x, b in zip(means.numbers(method), best, strict=True)]
    least = [min(row) for row in zip(*(laws.numbers(name) for name in ("SR", "PM", "SW")), strict=True)]
    ule = [percent(1 - x / b) for x, b in zip(laws.numbers("ULE"), least, strict=True)]
    return [
        f"have [[{span(gains)}]] less squared error of a mean than the best service",
        f"ULE is [[{ule[0]}]], [[{ule[1]}]] and [[{ule[2]}]] better (Beta+Sin with 10 and with 60, Adult)",
    ]


def _convergence(shelf: Shelf) -> list[str]:
    nats, steps = numbers(shelf.seen("theorem-5-1", "by the papers' rule"))[:2]
    table = shelf.table("theorem-5-1").where("services", "SR, PM")
    last, rule = table.rows[-2], table.rows[-1]
    (alone,) = numbers(shelf.seen("theorem-5-1", "SR alone"))
    return [
        f"stops [[{nats}]] nats below the maximum after [[{int(steps):,}]] steps",
        f"at a distance of [[{float(rule[3]):.2f}]] from it; after [[{last[1]}]] steps it is "
        f"[[{float(last[2]):.2g}]] nats below and [[{float(last[3]):.2f}]] away",
        f"two of them are [[{alone}]] apart",
    ]


def _services(shelf: Shelf) -> list[str]:
    found = [f"{value:.4g}" for value in shelf.table("figure-7-means").numbers("UWA")]
    users = shelf.table("figure-7-users").where("data", "Beta+Sin, EM")
    plain = [row for row in users.rows if row[0] == "Beta+Sin, EM"]
    place = users.header.index("ULE")
    falls = 1 - float(numbers(plain[-1][place])[0]) / float(numbers(plain[0][place])[0])
    return [
        f"UWA's variance x 10^6 falls from [[{found[0]}]] to [[{found[1]}]], [[{found[2]}]] and [[{found[3]}]] with "
        "4, 8, 12 and 16 services",
        f"By plain EM ULE falls by [[{percent(falls)}]] from 0.1 to 5 million users",
    ]


def _times(table: Table) -> list[str]:
    (uwa,) = (row for row in table.rows if row[:2] == ("UWA", "m = 4, n = 10M"))
    (ule,) = (row for row in table.rows if row[:2] == ("ULE", "m = 3, n = 10M"))
    return [
        f"UWA takes [[{uwa[4]}]] s of counting and [[{uwa[5]}]] s of estimating for 10 million users",
        f"ULE takes [[{ule[4]}]] s and [[{ule[5]}]] s",
    ]


def _asking(shelf: Shelf) -> list[str]:
    cells = {row[0]: f"{float(numbers(row[2])[0]):.4g}" for row in shelf.table("figure-8-means").rows}
    once, uwa = cells["SR asked once more at 0.1"], cells["UWA of the four"]
    return [
        f"One more SR report at 0.1 has a variance x 10^6 of [[{once}]]; UWA of the four services' reports has "
        f"[[{uwa}]]",
        f"at 0.4, the same total budget, has [[{cells['one SR report at 0.4, no services']}]]",
    ]
