"""What there is to know of a bundle, by name, for people and programs to read."""

from __future__ import annotations

from typing import Any

from ....mechanisms.categorical.mechanism import CategoricalMechanism, PureProtocol
from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.composed.attributes import AttributeSampling
from ....mechanisms.composed.personalised import PersonalisedMechanism
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.exactness.verification import verify
from ....mechanisms.key_value.mechanism import KeyValueMechanism
from ....mechanisms.table.table import TabulatedMechanism


def bundle_facts(bundle: Bundle) -> dict[str, Any]:
    """Return the facts of any kind of bundle: its kind, method, budgets, size, and the log-ratios really kept.

    Example
    -------
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> list(bundle_facts(categorical_grr(["yes", "no"], 1.0)))
    ['kind', 'method', 'epsilon', 'categories', 'outputs', 'max_log_ratio']
    """
    if isinstance(bundle, CategoricalMechanism):
        facts = _of_categories(bundle)
    elif isinstance(bundle, PersonalisedMechanism):
        facts = _of_levels(bundle)
    elif isinstance(bundle, KeyValueMechanism):
        facts = _of_pairs(bundle)
    elif isinstance(bundle, AttributeSampling):
        facts = _of_attributes(bundle)
    else:
        facts = {}
    return {"kind": bundle.kind, **facts}


def _of_categories(made: CategoricalMechanism) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "method": made.provenance.method,
        "epsilon": made.epsilon,
        "categories": len(made.categories),
    }
    if isinstance(made, CategoricalTable):
        facts["outputs"] = made.numerators.shape[1]
    if isinstance(made, PureProtocol):
        facts |= {"own_support": made.own_support, "other_support": made.other_support}
    facts["max_log_ratio"] = made.max_log_ratio
    if certificate := made.provenance.certificate:
        facts |= certificate
    return facts


def _of_levels(made: PersonalisedMechanism) -> dict[str, Any]:
    return {
        "method": made.levels[0].provenance.method,
        "levels": list(made.epsilons),
        "level_epsilon": made.level_epsilon,
        "level_leakage": made.level_leakage,
        "max_log_ratio": [_log_ratio(level) for level in made.levels],
    }


def _of_pairs(made: KeyValueMechanism) -> dict[str, Any]:
    return {
        "method": made.provenance.method,
        "epsilon": made.epsilon,
        "keys": len(made.keys),
        "padding": made.padding,
        "value_method": made.value.provenance.method,
        "value_epsilon": made.value.epsilon,
        "own_shown": made.own_shown,
        "other_shown": made.other_shown,
        "max_log_ratio": made.max_log_ratio,
    }


def _of_attributes(made: AttributeSampling) -> dict[str, Any]:
    return {
        "method": made.mechanisms[0].provenance.method,
        "epsilon": made.epsilon,
        "attributes": list(made.attributes),
        "sampled": made.sampled,
        "max_log_ratio": [_log_ratio(table) for table in made.mechanisms],
    }


def _log_ratio(member: CategoricalMechanism | TabulatedMechanism) -> float:
    return verify(member).max_log_ratio if isinstance(member, TabulatedMechanism) else member.max_log_ratio
