"""`optldp show` and `optldp verify`: what a table file says, and whether it is so."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import AllowUnproved, Json, Table
from .output import NOT_SO, one_line_errors, print_facts, print_json, readable, refuse_given, require_place, say

if TYPE_CHECKING:
    from ...mechanisms import Verification
    from ...mechanisms.documents.bundle import Bundle
    from ...mechanisms.exactness.proof import ExactProof

VERDICTS = {
    "proved": "keeps its promise, proved by whole numbers",
    "not proved": "NOT PROVED: probabilities are in doubles, for research only; make_exact makes a table exact",
    "broken": "DOES NOT KEEP ITS PROMISE",
}

PROOF_DIGITS = 20
"""Digits of an exact number shown: ratios and limits differ from each other in the thirteenth or later."""


@one_line_errors
def show_command(
    table: Table,
    plot: Annotated[Path | None, typer.Option("--plot", help="Write a heat map (png, pdf, svg).")] = None,
    allow_unproved: AllowUnproved = False,
    as_json: Json = False,
) -> None:
    """Show how a table was made and what it costs; optionally draw it.

    Example: optldp show mech.json --plot heatmap.png
    """
    from ...mechanisms import load_mechanism, verify
    from ...mechanisms.documents.bundle import Bundle
    from .kinds.influence import of_n_reports, one_report_times_n

    require_place(plot)
    mechanism = load_mechanism(table, allow_unproved=allow_unproved)
    if isinstance(mechanism, Bundle):
        refuse_given("for tables of numbers", {"--plot": plot})
        _show_bundle(str(table), mechanism, as_json)
        return
    checked = verify(mechanism)
    provenance = mechanism.provenance
    n, m = mechanism.probabilities.shape
    facts: dict[str, object] = {
        "method": provenance.method,
        "epsilon": mechanism.epsilon,
        "knots": n,
        "outputs": m,
        "domain": list(mechanism.domain),
        "units": mechanism.units,
        "prior": None if mechanism.prior is None else mechanism.prior.source,
        "expected_variance": checked.expected_variance,
        "worst_case_variance": checked.worst_case_variance,
        "one_report_times_n": one_report_times_n(mechanism),
        "max_log_ratio": checked.max_log_ratio,
        "max_abs_bias": checked.max_abs_bias,
        "parameters": dict(provenance.parameters),
        "certificate": None if provenance.certificate is None else dict(provenance.certificate),
        "version": provenance.version,
        "exact": mechanism.exact,
        "verdict": str(checked.verdict),
        "plot": None if plot is None else str(plot),
    }
    if plot is not None:
        from ..plots.heatmap import mechanism_heatmap, save_figure

        save_figure(mechanism_heatmap(mechanism), plot)
    if provenance.parameters.get("unbiased") is False:
        say("note: this table is biased, so its variances are no errors of a mean: use estimate --of distribution")
    if mechanism.prior is not None and mechanism.prior.source == "sensitive":
        say("note: this file carries a sensitive prior; design with --omit-prior before handing it out")
    if as_json:
        print_json(facts)
        return
    rows: list[tuple[str, str]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            rows += [(f"{name}: {key}", readable(item)) for key, item in value.items()]
        elif name == "one_report_times_n" and isinstance(value, float):
            rows.append(("one_report", of_n_reports(mechanism, value)))
        elif value not in (None, ""):
            rows.append((name, readable(value)))
    print_facts(str(table), rows)


@one_line_errors
def verify_command(
    table: Table,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prove it by whole numbers alone, and print the proof's facts.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove from a table's numbers that it keeps its promise; exit code 1 if it does not or cannot be proved.

    Example: optldp verify --exact mech.json
    """
    from ...mechanisms import prove, verify
    from ...mechanisms.documents.bundle import Bundle
    from ...mechanisms.files.bundle_file import read_unverified_mechanism

    mechanism = read_unverified_mechanism(table)
    if isinstance(mechanism, Bundle):
        _verify_bundle(str(table), mechanism, as_json)
        return
    checked = verify(mechanism)
    found = {"ok": checked.ok, "verdict": str(checked.verdict)}
    facts = _proof_facts(prove(mechanism)) if exact and mechanism.exact else _verified_facts(checked)
    if as_json:
        print_json(found | facts | {"failures": checked.failures})
    else:
        rows = [("verdict", VERDICTS[checked.verdict])]
        rows += [(name, readable(value)) for name, value in facts.items() if value is not None]
        print_facts(str(table), rows + [("failure", failure) for failure in checked.failures])
    if not checked.ok:
        raise typer.Exit(NOT_SO)


def _show_bundle(name: str, bundle: Bundle, as_json: bool) -> None:
    from .kinds.facts import bundle_facts
    from .kinds.influence import of_n_reports, one_report_times_n

    facts, influence = bundle_facts(bundle), one_report_times_n(bundle)
    if as_json:
        print_json({**facts, "one_report_times_n": influence})
        return
    rows = [(key, readable(value)) for key, value in facts.items() if value is not None]
    print_facts(name, rows if influence is None else [*rows, ("one_report", of_n_reports(bundle, influence))])


def _verify_bundle(name: str, bundle: Bundle, as_json: bool) -> None:
    """Print whether a bundle keeps its promise, all of it in whole numbers; exit code 1 if not."""
    from .kinds.facts import bundle_facts

    failures = bundle.failures()
    verdict = "broken" if failures else "proved"
    if as_json:
        print_json({"ok": not failures, "verdict": verdict, **bundle_facts(bundle), "failures": failures})
    else:
        rows = [("verdict", VERDICTS[verdict])]
        rows += [(key, readable(value)) for key, value in bundle_facts(bundle).items() if value is not None]
        print_facts(name, rows + [("failure", failure) for failure in failures])
    if failures:
        raise typer.Exit(NOT_SO)


def _verified_facts(checked: Verification) -> dict[str, Any]:
    return {
        "epsilon": checked.epsilon,
        "max_log_ratio": checked.max_log_ratio,
        "max_abs_bias": checked.max_abs_bias,
        "max_row_sum_error": checked.max_row_sum_error,
        "expected_variance": checked.expected_variance,
    }


def _proof_facts(proof: ExactProof) -> dict[str, Any]:
    """The facts by name: exact numbers as fractions in text, each with its decimal value beside it."""
    return {
        "epsilon": proof.epsilon,
        "tightest_output": proof.output,
        "ratio": f"{proof.largest}/{proof.smallest}",
        "ratio_decimal": decimalreadable(proof.ratio),
        "limit_decimal": decimalreadable(proof.limit),
        "slack_decimal": decimalreadable(proof.slack),
        "max_abs_bias": str(proof.bias),
        "max_abs_bias_decimal": decimalreadable(proof.bias),
        "relative_bias_decimal": decimalreadable(proof.relative_bias),
    }


def decimalreadable(value: Fraction | None) -> str | None:
    """Return a fraction to twenty significant digits.

    Example
    -------
    >>> decimalreadable(Fraction(1, 3))
    '0.33333333333333333333'
    """
    if value is None:
        return None
    with localcontext() as context:
        context.prec = PROOF_DIGITS
        return str(Decimal(value.numerator) / Decimal(value.denominator))
