"""Feed the reader mutated counts: it may refuse them in one line, or load what users can have reported; nothing else.

python .ci/fuzz/fuzz_counts.py --seconds 30                       in every run
python .ci/fuzz/fuzz_counts.py --seconds 600 --files 1000000      at night: whichever comes first
"""

import io
import sys
import tempfile
from pathlib import Path

import numpy as np
from fuzz_tables import fuzz, mutate_archive, mutate_bytes, some
from optldp.estimators import ReportCounts, Service, load_counts, save_counts
from optldp.estimators.counting.user_numbers import MOST_USERS
from optldp.mechanisms import InputError, duchi, make_exact, piecewise

KNOTS = [0.0, 0.4, 1.0]
TABLES = [make_exact(table).mechanism for table in (piecewise(KNOTS, 1.0), duchi(KNOTS, 1.0), duchi(KNOTS, 2.0))]

NUMBERS = [0, 1, -1, 2, 2**31 - 1, 2**31, 2**32, 2**52, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]


def corpus(folder: Path) -> list[bytes]:
    """Good counts of one to three services, of some users and of as many as there may be."""
    rng, files = np.random.default_rng(1), []
    for n_services in (1, 2, 3):
        services = [Service(f"service {j}", table) for j, table in enumerate(TABLES[:n_services])]
        for n_users in (1, 30, 1000):
            sizes = [service.mechanism.low.size for service in services]
            outputs = np.stack([rng.integers(-1, size, n_users) for size in sizes], axis=1)
            save_counts(ReportCounts.from_outputs(services, outputs), folder / "good.npz")
            files.append((folder / "good.npz").read_bytes())
    return files


def mutate_numbers(content: bytes, rng: np.random.Generator) -> bytes:
    """Put numbers at the limits of their types into counts or outputs."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {name: array.copy() for name, array in archive.items()}
    for _ in range(int(rng.integers(1, 4))):
        array = arrays[some(rng, [name for name in arrays if name != "document"])]
        if array.size:
            with np.errstate(over="ignore"):
                array.flat[int(rng.integers(array.size))] = np.array(some(rng, NUMBERS)).astype(array.dtype)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def mutant(files: list[bytes], rng: np.random.Generator) -> bytes:
    return some(rng, [mutate_archive, mutate_bytes, mutate_numbers])(some(rng, files), rng)


def judge(content: bytes, path: Path) -> bool:
    """Whether the bytes were counts, of these tables or of fewer; raises what must not happen."""
    path.write_bytes(content)
    loaded = False
    for number in (1, 2, 3):
        try:
            counts = load_counts(path, TABLES[:number])
        except InputError as error:
            if "\n" in str(error):
                raise AssertionError(f"a refusal must be one line, got {error!s}") from None
            continue
        check(counts, path)
        loaded = True
    return loaded


def check(counts: ReportCounts, path: Path) -> None:
    """Fail for counts that no users can have made, that add up to others, or that do not come back."""
    users = sum(sum(group.counts.tolist()) for group in counts.groups)
    if not counts.n_users == users <= MOST_USERS:
        raise AssertionError(f"there must be {users} users, got {counts.n_users}")
    for j, service in enumerate(counts.services):
        seen = counts.reports_of(j)
        if seen.shape != service.mechanism.low.shape or (seen < 0).any() or sum(seen.tolist()) > users:
            raise AssertionError(f"service {j} must have reports of its users, got {seen}")
    try:
        both = counts + counts
    except InputError:
        if 2 * users <= MOST_USERS:
            raise
    else:
        if both.n_users != 2 * users:
            raise AssertionError(f"twice {users} users must be {2 * users}, got {both.n_users}")
    save_counts(counts, path)
    if load_counts(path, counts.mechanisms).n_users != users:
        raise AssertionError("counts must come back")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return fuzz("counts", corpus, mutant, lambda content: judge(content, Path(folder, "counts.npz")))


if __name__ == "__main__":
    sys.exit(main())
