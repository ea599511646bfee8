"""`optldp perturb`: what a client does with a mechanism, by the operating system's generator unless it simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...mechanisms.errors import InputError
from .options.ledger import UNCOUNTED, ledger_note
from .options.perturb import PerturbOptions
from .options.shared import takes_options
from .output.output import facts_shown, one_line_errors, print_facts, print_json, require_place, say, say_wrote

if TYPE_CHECKING:
    from ...mechanisms import TabulatedMechanism
    from ...mechanisms.documents.bundle import Bundle
    from .handlers.kind import Kind, WrittenReports

DROPPED = (
    "note: rows without a value have no report, which shows who has none: design --missing protect makes a mechanism "
    "that protects this, too"
)


@one_line_errors
@takes_options
def perturb_command(asked: PerturbOptions) -> None:
    """Perturb every value of a column through a mechanism, by the operating system's random numbers.

    \b
    Example: optldp perturb mech.json people.csv --column income --out reports.csv
    Example: optldp perturb mech.json people.csv --column income --keep region --out reports.csv
    Example: optldp perturb mech.json people.parquet --column income --as index --out idx.parquet
    Example: optldp perturb mech.json people.parquet --column income --out reports.parquet --resume
    Example: producer | optldp perturb mech.json - --column income --window 1000 --out - | collector
    Example: optldp perturb jobs.json people.csv --column job --level-column budget --out reports.csv
    Example: optldp perturb mech.json people.csv --column income --secret FILE --key user --period 2026-05 --out r.csv
    Example: optldp perturb mech.json people.csv --column income --key user --ledger people.ledger --ledger-key FILE \\
    --budget 2 --out r.csv
    Example: optldp perturb way.json week07.csv --column x --key user --period 7 --state state.db --out r07.csv
    """
    import numpy as np

    from ...mechanisms import load_mechanism
    from ...mechanisms.third_party.mark import require_ours
    from .handlers.registry import kind_of
    from .streaming.blocks import is_long, perturb_blocks

    out, data = asked.out, asked.data
    inputs = [path for path in (data, asked.table, asked.secret, asked.ledger, asked.ledger_key) if path is not None]
    piped = str(out) == "-"
    if out.exists() and any(path.exists() and out.samefile(path) for path in inputs):
        raise InputError(f"the reports must not replace the values, got {str(out)!r} for both: choose another --out")
    require_place(out, () if piped else (".csv", ".parquet"), force=asked.force)
    kind = kind_of(load_mechanism(asked.table))
    require_ours(kind.mechanism, "perturb")
    if kind.over_time:
        from .over_time.perturb import perturb_period

        perturb_period(asked, kind)
        return
    if asked.secret is None and asked.ledger_key is None:
        asked.refuse("for files of a --secret or a --ledger-key", "--group-readable")
    rng = None if asked.seed is None else np.random.default_rng(asked.seed)
    try:
        ledger = asked.opened
        again = None if rng or ledger or asked.secret else drawn_again(asked, kind.mechanism)
        asked.refuse_to_keep(kind.mechanism.by_column)
        if asked.window is not None:
            from .streaming.windows import perturb_windows

            written = perturb_windows(asked, kind, rng)
        else:
            written = perturb_blocks(asked, kind, rng) if is_long(asked, kind) else kind.perturb(asked, rng)
    except BaseException:
        asked.forget()
        raise
    if written.columns:  # block by block they are written already
        _write(asked, kind, written)
    if again is not None:
        say(again)
    if asked.keep:
        say(f"note: {', '.join(asked.keep)} of each person stand in clear beside the report, protected by nothing")
    if asked.drop_missing:
        say(DROPPED)
    if asked.secret is not None:
        from ...mechanisms.pseudorandom.secret import HOLDERS

        say(f"note: reports by a secret: {HOLDERS}; a value that has changed is another report, and spends again")
    if (promise := kind.mechanism.promise) is not None and promise.caution:
        say(f"note: {promise.caution}")
    promised: dict[str, Any] = {}
    if asked.rounding is not None:
        from ...mechanisms.sampling.rounded_values import said_of_rounded

        promised = {"promised": said_of_rounded(kind.mechanism.promise, kind.mechanism.knots)}
        say(f"note: values between knots are rounded to one; what is promised of values is {promised['promised']}")
    if written.clipped:
        say(f"note: {written.clipped:,} of {written.n:,} values were outside the range and clipped")
    facts: dict[str, Any] = {"n": written.n, "clipped": written.clipped, "out": str(out), "simulated": rng is not None}
    facts |= promised
    if written.given is not None and ledger is not None:
        say(ledger_note(written.given, kind.mechanism.epsilon, ledger.budget))
        facts |= {"new": written.given.new, "repeated": written.given.repeated, "spent": written.given.spent}
    elif rng is None:
        say(UNCOUNTED)
    if piped:  # what people are told would be among the reports
        say(f"note: {written.n:,} reports to standard output")
        return
    say_wrote(out, f"{written.n:,} reports")
    if asked.as_json:
        print_json(facts)
    else:
        print_facts("perturbed", facts_shown(facts))


def _write(asked: PerturbOptions, kind: Kind, written: WrittenReports) -> None:
    """Write reports into the file that was asked for, with what stands beside them."""
    from ...estimators.reading.columns.keyed import write_keyed_reports
    from ...estimators.reading.columns.number_cells import write_columns

    present = [asked.needed("--column")] if written.present is None else written.present
    columns = asked.with_round(written.columns, kind.mechanism, lambda: asked.users_of(present))
    constants = kind.constants(columns)
    if not asked.beside:
        write_columns(asked.out, columns, constants)
        return
    write_keyed_reports(
        asked.out,
        columns,
        data=asked.data,
        columns=present,
        key=asked.key,
        keep=asked.keep or (),
        constants=constants,
    )


def drawn_again(asked: PerturbOptions, mechanism: TabulatedMechanism | Bundle) -> str | None:
    """Return the warning that people have reports in the file that is to be replaced, and what two of them spend."""
    out, who = asked.out, "people"
    if not out.exists():
        return None
    from ...estimators.reading.columns.keyed import common_keys
    from .handlers.reading import answer_simulated

    try:
        if answer_simulated(out):  # simulated reports protect nobody
            return None
        if asked.key is not None:
            many = common_keys(out, asked.data, asked.key)
            if many == 0:
                return None
            who = f"{many:,} of these people"
    except InputError:  # a file of something else, or without keys
        pass
    return f"warning: {who} have reports in {out} already: these people's reports are drawn again; {_twice(mechanism)}"


def _twice(mechanism: TabulatedMechanism | Bundle) -> str:
    """Return what two reports by the same mechanism spend."""
    from ...mechanisms.promise import Pure

    match mechanism.promise:
        case None:  # levels have several
            spent = "its budget again, twice that in all"
        case Pure(epsilon):
            spent = f"epsilon {epsilon:g} again, {2 * epsilon:g} in all"
        case promise:
            spent = f"{promise} again, twice that in all"
    return f"a second report that anybody sees spends {spent}"
