"""`optldp perturb`: what a client does with a mechanism, by the operating system's generator unless it simulates."""

from __future__ import annotations

from .kinds.asked import PerturbOptions
from .options import takes_options
from .output import one_line_errors, print_facts, print_json, require_place, say


@one_line_errors
@takes_options
def perturb_command(asked: PerturbOptions) -> None:
    """Perturb every value of a column through a mechanism, by the operating system's random numbers.

    \b
    Example: optldp perturb mech.json people.csv --column income --out reports.csv
    Example: optldp perturb mech.json people.parquet --column income --as index --out idx.parquet
    Example: optldp perturb jobs.json people.csv --column job --level-column budget --out reports.csv
    Example: optldp perturb mech.json people.csv --column income --secret FILE --key user --round 2026-05 --out r.csv
    """
    import numpy as np

    from ...estimators.data.keyed import write_keyed_reports
    from ...estimators.data.numbers import write_columns
    from ...estimators.data.simulated_columns import SIMULATED
    from ...mechanisms import InputError, TabulatedMechanism, load_mechanism
    from .kinds.registry import kind_of

    out, data = asked.out, asked.data
    require_place(out, (".csv", ".parquet"))
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"the reports must not replace the values, got {str(out)!r} for both: choose another --out")
    kind = kind_of(load_mechanism(asked.table))
    rng = None if asked.seed is None else np.random.default_rng(asked.seed)
    written = kind.perturb(asked, rng)
    if asked.key is None:
        write_columns(out, written.columns)
    else:
        first = next(iter(written.columns))  # of attributes, which every user has all of, any column will do
        present = asked.column or (first if rng is None else first.removeprefix(SIMULATED))
        write_keyed_reports(out, written.columns, data=data, column=present, key=asked.key)
    if asked.secret is not None:
        from ...mechanisms.keyed.secret import HOLDERS

        say(f"note: reports by a secret: {HOLDERS}; a value that has changed is another report, and spends again")
    if isinstance(kind.mechanism, TabulatedMechanism) and (caution := kind.mechanism.promise.caution):
        say(f"note: {caution}")
    if written.clipped:
        say(f"note: {written.clipped} of {written.n} values were outside the domain and clipped")
    facts = {"n": written.n, "clipped": written.clipped, "out": str(out), "simulated": rng is not None}
    if asked.as_json:
        print_json(facts)
    else:
        print_facts("perturbed", [(name, str(value)) for name, value in facts.items()])
