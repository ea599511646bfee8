"""`optldp audit`: does a sampler, seen from outside, keep the epsilon that its table or bundle claims?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...mechanisms.errors import InputError
from .options.shared import Json, Table
from .output.output import NOT_SO, one_line_errors, print_facts, print_json, readable, refuse_given, share_progress

if TYPE_CHECKING:
    from ...mechanisms.over_time import Way
    from ..auditing.audit import Audit
    from ..auditing.over_time import OverTimeAudit

DEFAULT_SAMPLES = 1e6


@one_line_errors
def audit_command(
    table: Table,
    samples: Annotated[float, typer.Option("--samples", help="Reports to draw, such as 1e6.")] = DEFAULT_SAMPLES,
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the lower bound.")] = 0.999,
    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler",
            metavar="COMMAND",
            help="Audit this command: it reads a value a line (JSON for bundles) and prints a report a line.",
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="Seconds for one run of COMMAND. Default: 600.")
    ] = None,
    outside: Annotated[
        bool, typer.Option("--outside", help="Try values outside the range too: for a COMMAND that clips them.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Audit a simulation instead of the operating system's generator."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw from a sampler where it reveals most, and bound its epsilon from below; the exit code is 1 if the bound
    exceeds the claim.

    For a way over time, one report is audited, then several periods: do changes show, and whose reports are whose?

    A COMMAND must also spell its reports as in docs/report-format.md: otherwise the exit code is 1.

    \b
    Example: optldp audit mech.json --samples 1e6
    Example: optldp audit mech.json --sampler "node client.mjs mech.json"
    """
    import numpy as np

    from ...mechanisms.files.bundle import read_unverified_mechanism
    from ...mechanisms.third_party.mark import require_ours
    from ..auditing.audit import audit
    from ..auditing.sources import DEFAULT_TIMEOUT
    from ..auditing.subjects.registry import sampler_of
    from .handlers.registry import kind_of

    if not samples.is_integer():
        raise InputError(f"samples must be a whole number, got {samples!r}")
    if sampler is None:
        refuse_given("of no use without --sampler", {"--timeout": timeout, "--outside": outside or None})
    else:
        refuse_given("of no use to --sampler, which draws by itself", {"--seed": seed})
    mechanism = read_unverified_mechanism(table)
    require_ours(mechanism, "audit")
    rng = None if seed is None else np.random.default_rng(seed)
    over_time = kind_of(mechanism).over_time and sampler is None and seed is None
    if over_time and mechanism.statistic is None:  # reports of several periods together, none of which comes again
        _finish(str(table), None, {}, _audited_over_time(cast("Way", mechanism), confidence), as_json)
        return
    with share_progress("audit") as update:
        found = audit(
            mechanism,
            sampler_of(mechanism, rng) if sampler is None else sampler,
            samples=int(samples),
            confidence=confidence,
            outside=outside,
            timeout=DEFAULT_TIMEOUT if timeout is None else timeout,
            rng=None if seed is None else np.random.default_rng([seed, 1]),
            progress=update,
        )
    facts = {**asdict(found), "sampler": sampler, "simulated": rng is not None}
    later = _audited_over_time(cast("Way", mechanism), confidence) if over_time else None
    _finish(str(table), found, facts, later, as_json)


def _audited_over_time(way: Way, confidence: float) -> OverTimeAudit:
    from ..auditing.over_time import audit_over_time

    with share_progress("audit over time") as update:
        return audit_over_time(way, confidence=confidence, progress=lambda share: update("several periods", share))


def _finish(
    name: str, found: Audit | None, facts: dict[str, object], later: OverTimeAudit | None, as_json: bool
) -> None:
    """Print what was found of one report and of several periods, and exit by it."""
    if later is not None:
        facts["over_time"] = asdict(later) | {"ok": later.ok}
    if as_json:
        print_json(facts)
    else:
        if found is not None:
            print_facts(name, _rows(found, facts))
        if later is not None:
            print_facts("several periods, through a state", _over_time_rows(later))
    if not all(one.ok for one in (found, later) if one is not None):
        raise typer.Exit(NOT_SO)


def _rows(found: Audit, facts: dict[str, object]) -> list[tuple[str, str]]:
    """Return what is printed, the verdict first, then where it comes from, then what was tried and what was not."""
    told = ("epsilon", "lower_bound", "confidence", "inputs", "event", "counts", "trials", "draws", "tested", "foreign")
    rows = [("verdict", _verdict(found))]
    rows += [(name.replace("_", " "), _safe(readable(facts[name]))) for name in (*told, "simulated")]
    if facts["sampler"] is not None:
        rows.append(("sampler", _safe(str(facts["sampler"]))))
    if found.misspelled:
        rows.append(("misspelled", f"{found.misspelled:,} lines; the first: {_safe(found.first_misspelled)}"))
    rows += [("tried", _safe(kind)) for kind in found.tried]
    return rows + [("not tried", kind) for kind in found.not_tried]


def _over_time_rows(found: OverTimeAudit) -> list[tuple[str, str]]:
    rows = [("verdict", "changes are hidden as promised" if found.ok else "CHANGES SHOW")]
    return rows + [(name.replace("_", " "), readable(value)) for name, value in asdict(found).items()]


def _verdict(found: Audit) -> str:
    if found.lower_bound > found.epsilon:
        return "ABOVE ITS CLAIM"
    return "within its claim" if found.ok else "SPELLED OTHERWISE than docs/report-format.md publishes"


def _safe(text: str) -> str:
    """Return the text with characters that a terminal may obey made harmless: labels come from the file."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
