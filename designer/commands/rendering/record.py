"""A mechanism's record for others: what a registry of deployments and an evaluator ask, filled from its file.

The names of the deployment's fields are those of the Differential Privacy Deployments Registry (opendp.org, 2025;
Nanayakkara, Ghazi and Vadhan, 2025, arXiv:2509.13509). The questions are those of NIST SP 800-226 (Near, Darais,
Lefkovitz and Howarth, 2025), from the top of its pyramid to the ground: parameters and unit, definition, utility,
correctness, trust, side channels, security, collection. What no file knows is left blank, and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....mechanisms.promise import Approximate, Pure
from ....mechanisms.third_party.mark import is_adopted

if TYPE_CHECKING:
    from ..handlers.kind import Kind

FORMAT = "optldp-record/1"

BLANK = ""
"""In place of what the file does not know."""

VERDICTS = {
    "proved": "proved by whole numbers of the file, which anybody can repeat: optldp verify --exact",
    "not proved": "not proved: the probabilities are doubles, for research only",
    "broken": "broken: the file does not keep its promise",
}

DRAWN = "from the operating system's generator, by whole numbers of 53 bits, without rejection"
DRAWN_BY_OTHERS = "by others, whose word it is that the law is kept"

WHO = (
    ("the person's own device", "the value, and everything"),
    ("the network and the collector", "the value up to the promise, for each report; who reports, when and from where"),
    ("whoever gets the table", "nothing of any reporting person; of the data that a sensitive prior was learnt from"),
    ("an engine that draws the reports", "the raw values: where it does, nothing about it is local"),
    ("readers of what is released", "what follows from the reports alone, which spends nothing more"),
)
"""As the threat model has it."""


def record_of(kind: Kind) -> dict[str, Any]:
    """Return the record of a mechanism; fields that are blank are named in `blanks`."""
    facts, checked, promise = kind.facts(), kind.checked(False), kind.mechanism.promise
    epsilon = facts.get("epsilon") or max(facts.get("epsilons") or [], default=None)  # of levels the least private
    parameters: dict[str, Any] = {"epsilon": epsilon}
    if isinstance(promise, Approximate):
        parameters["delta"] = promise.delta
    per_report = facts.get("epsilon_of_a_report", epsilon)
    over_time = kind.over_time
    found: dict[str, Any] = {
        "format": FORMAT,
        "table": kind.identifier(),
        "deployment": {
            "product": {
                "name": BLANK,
                "data_curators": BLANK,
                "intended_use": BLANK,
                "data_product_type": "Summary statistics",
                "data_product_region": BLANK,
                "description": BLANK,
                "publication_date": BLANK,
            },
            "dp_flavor": {"name": _flavour(promise)},
            "privacy_loss": {
                "privacy_unit": "User-level" if over_time else "Event-level: one report of one person",
                "privacy_parameters": parameters,
                "privacy_parameters_description": str(promise) if promise is not None else "levels of budgets, by user",
            },
            "model": {
                "model_name": "Local",
                "release_type": BLANK,
                "data_source_type": BLANK,
                "access_type": BLANK,
            },
            "implementation": {
                "mechanisms": _method(kind, facts),
                "pre_processing_eda_hyperparameter_tuning": _prior(facts),
                "justification": BLANK,
            },
            "resources": {"sources": BLANK},
        },
        "evaluation": {
            "unit_of_privacy": "one person, over all periods" if over_time else "one report of one person",
            "budget_per_report": per_report,
            "budget_per_life": epsilon if over_time else BLANK,
            "promise": str(promise) if promise is not None else "of each level its own",
            "proof": VERDICTS[checked.verdict],
            "utility": {name: facts[name] for name in ("expected_variance", "variance", "value") if name in facts}
            or BLANK,
            "drawing": DRAWN_BY_OTHERS if is_adopted(kind.mechanism) else DRAWN,
            "trust_model": "local: the value leaves the person's device in a report only",
            "who_may_learn_what": [{"who": who, "may_learn": what} for who, what in WHO],
            "side_channels": "who reports, when, from where and how long drawing takes are not protected",
            "security": BLANK,
            "collection": BLANK,
            "what_is_released": BLANK,
        },
    }
    return found | {"blanks": [".".join(path) for path in _blanks(found, ())]}


def record_text(record: Mapping[str, Any]) -> str:
    """Return a record as Markdown, blanks marked and named at its end."""
    lines = [f"# Record of table {record['table']}", ""]
    for title, part in (("Deployment", record["deployment"]), ("Evaluation", record["evaluation"])):
        lines += [f"## {title}", "", "| question | answer |", "|---|---|"]
        lines += [f"| {'.'.join(path)} | {_said(value)} |" for path, value in _rows(part, ())]
        lines.append("")
    lines += ["## Who may learn what", "", "| who | may learn |", "|---|---|"]
    lines += [f"| {row['who']} | {row['may_learn']} |" for row in record["evaluation"]["who_may_learn_what"]]
    lines += ["", "## Blanks", "", "No file knows these; whoever collects does.", ""]
    return "\n".join([*lines, *(f"- {name}" for name in record["blanks"])])


def _flavour(promise: Any) -> str:
    match promise:
        case Pure():
            return "Pure DP"
        case Approximate():
            return "Approximate DP"
        case None:
            return "Pure DP, of a budget that users choose"
        case _:
            return f"{promise}, which is not Pure DP"


def _method(kind: Kind, facts: Mapping[str, Any]) -> str:
    name = facts.get("kind", "table of numbers")
    return f"{name}: {facts['method']}" if facts.get("method") else str(name)


def _prior(facts: Mapping[str, Any]) -> str:
    """Say what the table was designed for, as far as its file does."""
    return f"designed for a prior that is {facts['prior']}" if facts.get("prior") else BLANK


def _rows(part: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    rows: list[tuple[tuple[str, ...], Any]] = []
    for name, value in part.items():
        if isinstance(value, Mapping):
            rows += _rows(value, (*path, name))
        elif not isinstance(value, list):
            rows.append(((*path, name), value))
    return rows


def _blanks(part: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [path for path, value in _rows(part, path) if value in (BLANK, None)]


def _said(value: Any) -> str:
    """A cell of Markdown: what stands in a file ends no cell."""
    text = "(blank)" if value in (BLANK, None) else f"{value:.6g}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
