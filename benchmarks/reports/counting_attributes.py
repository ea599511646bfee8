"""Three services (Duchi's mechanism, piecewise, square wave) ask for the same 60 attributes. Each user reports one
attribute to each service, drawn anew. Files are in orders of their own, matched by an integer key. `count` and then
`estimate_attribute_means` run in a process of their own. The target is under 10 s for both together, for 1e6 users.
Processor seconds are those of all cores; peak memory is the process's, Python and numpy included."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import Table
from optldp.estimators.reading.columns.files import connected
from optldp.mechanisms import AttributeSampling, duchi, make_exact, piecewise, save_bundle, square_wave

TITLE = "Counting attributes"
EPSILON = 1.0
KNOTS = np.linspace(0.0, 1.0, 65)
SERVICES = {"duchi": duchi, "piecewise": piecewise, "square-wave": square_wave}

COUNT = """
import resource, sys, time
from optldp.estimators import count, estimate_attribute_means
from optldp.mechanisms import load_mechanism
suffix, *names = sys.argv[1:]
sources = [(name, load_mechanism(f"{name}.json"), name + suffix) for name in names]
started, processor = time.perf_counter(), time.process_time()
counts = count(sources, key="user", temp_directory=".")
counted = time.perf_counter()
means = estimate_attribute_means(counts)
done = time.perf_counter()
assert counts.n_users, means.value
seconds = counted - started, done - counted, time.process_time() - processor
print(counts.n_users, len(means.attributes), *seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def run(users: int = 1_000_000, attributes: int = 60) -> list[Table]:
    made = []
    with tempfile.TemporaryDirectory() as folder:
        _write_services(Path(folder), users, [f"a{i}" for i in range(attributes)])
        for suffix in (".parquet", ".csv"):
            command = [sys.executable, "-c", COUNT, suffix, *SERVICES]
            ran = subprocess.run(command, check=True, capture_output=True, cwd=folder)
            counted, found, *seconds, kilobytes = ran.stdout.decode().split()
            if (int(counted), int(found)) != (users, attributes):
                raise AssertionError(f"counted {counted} of {users} users, {found} of {attributes} attributes")
            made.append((suffix, users, attributes, *map(float, seconds), float(kilobytes) * 1024 / 1e9))
    columns = {
        "files": "", "users": ".0e", "attributes": "", "counting, elapsed s": ".1f", "means, elapsed s": ".1f",
        "processor, s": ".1f", "peak memory, GB": ".2f",
    }  # fmt: skip
    return [Table(columns, made)]


def _write_services(folder: Path, users: int, attributes: list[str]) -> None:
    rng = np.random.default_rng(1)
    values = rng.beta(2, 5, (users, len(attributes)))
    for name, family in SERVICES.items():
        mechanism = AttributeSampling.of(
            dict.fromkeys(attributes, make_exact(family(KNOTS, EPSILON)).mechanism), 1, 1.0
        )
        save_bundle(mechanism, folder / f"{name}.json")
        order = rng.permutation(users)
        reports = {column: report[order] for column, report in mechanism.sample(values, rng).items()}
        with connected() as connection:
            connection.register("reports", {"user": order, **reports})
            drawn = ", ".join(f"CASE WHEN NOT isnan({column}) THEN {column} END AS {column}" for column in attributes)
            rows = connection.sql(f"SELECT user, {drawn} FROM reports")
            rows.write_parquet(str(folder / f"{name}.parquet"))
            rows.write_csv(str(folder / f"{name}.csv"))
