"""The privacy engineer's day: is it proved, who counts what is spent, what is signed, several questions at once."""

from __future__ import annotations

from .walk import Step

STEPS = [
    Step("design {file} --column {column} {range} --epsilon 1 --knots 7 --omit-prior --out mech.json"),
    Step("verify mech.json", says=("keeps its promise, proved by whole numbers",)),
    Step("verify mech.json --exact", says=("slack_decimal",)),
    Step("show mech.json --n {n} --out report.html", says=("report: report.html",)),
    Step("design {file} --attribute {column}={ends} --attribute weight=1:3 --epsilon 1 --knots 5 --out both.json"),
    Step("show mech.json both.json --n {n} --out reports", says=("report: reports",)),
    Step(
        "perturb mech.json {file} --column {column} {options} --key id --ledger people.ledger --ledger-key secret "
        "--budget 1.5 --out reports.csv",
        says=("wrote reports.csv",),
    ),
    Step(
        "perturb mech.json {file} --column {column} {options} --key id --ledger people.ledger --ledger-key secret "
        "--out again.csv",
        sense=lambda told: told["new"] == 0 and told["repeated"] == told["n"],
    ),
    Step(
        "perturb mech.json {file} --column {column} {options} --out reports.csv",
        says=("which exists: --force replaces it",),
        fails=True,
    ),
    Step(
        "perturb mech.json {file} --column {column} {options} --keep {column} --out plain.csv",
        says=("which is protected",),
        fails=True,
    ),
    Step("perturb both.json {file} {options} --key id --seed 1 --out attributes.csv"),
    Step("estimate both.json attributes.csv --key id", says=("weight",)),
    Step("design {file} --column {column} {range} --epsilon 0.5 --knots 7 --out second.json"),
    Step("perturb second.json {file} --column {column} {options} --key id --seed 2 --out second.csv"),
    Step("estimate mech.json reports.csv second.json second.csv --key id", says=("mean of the values",)),
    Step("two-phase {file} --column {column} {range} --epsilon 1 --knots 7 --seed 1", says=("truth",)),
    Step("plan {file} --column {column} {range} --epsilon 1 --n {n} --knots 7", says=("mean within",)),
]

AUDIT = [
    Step("design {file} --column {column} {range} --epsilon 1 --knots 5 --out mech.json"),
    Step("audit mech.json --samples 20000 --seed 1", says=("within its claim",)),
]
