"""Attributes at several services: each attribute's counts are those of a collection of that attribute alone."""

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import ReportCounts, count
from optldp.estimators.attributes import AttributeCounts
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import AttributeSampling, InputError, TabulatedMechanism, duchi, grr, make_exact, piecewise

KNOTS = [0.0, 0.5, 1.0]
POINTS, CELLS, TWO = (make_exact(make(KNOTS, 1.0)).mechanism for make in (grr, piecewise, duchi))
WEB = AttributeSampling.of({"age": POINTS, "pay": CELLS, "size": TWO}, 1, 1.0)
APP = AttributeSampling.of({"pay": TWO, "age": CELLS}, 1, 1.0)
SHOP = AttributeSampling.of({"size": CELLS}, 1, 1.0)
SERVICES = {"web": WEB, "app": APP, "shop": SHOP}

Answers = dict[str, dict[int, tuple[str, int]]]
"""Of each service, what each of its users reported: an attribute and an output."""


def report(made: AttributeSampling, attribute: str, output: int) -> float:
    table = made.mechanisms[made.attributes.index(attribute)]
    return float((table.low[output] + table.high[output]) / 2)


def frame(made: AttributeSampling, rows: list[tuple[int, str, int]]) -> pd.DataFrame:
    """One row for each answer, empty where an attribute was not drawn."""
    columns = {name: np.full(len(rows), np.nan) for name in made.attributes}
    for place, (_, attribute, output) in enumerate(rows):
        columns[attribute][place] = report(made, attribute, output)
    return pd.DataFrame({"user": [user for user, _, _ in rows]} | columns)


def frames(answers: Answers) -> list[tuple[str, AttributeSampling, pd.DataFrame]]:
    return [
        (name, SERVICES[name], frame(SERVICES[name], [(user, *told) for user, told in rows.items()]))
        for name, rows in answers.items()
    ]


def brute_force(answers: Answers, attribute: str) -> Counter:
    """How many users gave which answers about one attribute, by a dictionary for each user."""
    holders = [name for name in answers if attribute in SERVICES[name].attributes]
    of_user: dict[int, dict[int, int]] = {}
    for j, name in enumerate(holders):
        for user, (told, output) in answers[name].items():
            if told == attribute:
                of_user.setdefault(user, {})[j] = output
    return Counter((tuple(sorted(told)), tuple(told[j] for j in sorted(told))) for told in of_user.values())


def as_counter(counts: ReportCounts) -> Counter:
    return Counter(
        {
            (group.services, tuple(row)): number
            for group in counts.groups
            for row, number in zip(group.outputs.tolist(), group.counts.tolist(), strict=True)
        }
    )


def answers_of(users: st.SearchStrategy[int]) -> st.SearchStrategy[Answers]:
    def told(made: AttributeSampling) -> st.SearchStrategy[tuple[str, int]]:
        sizes = dict(zip(made.attributes, (table.low.size for table in made.mechanisms), strict=True))
        return st.sampled_from(made.attributes).flatmap(
            lambda name: st.tuples(st.just(name), st.integers(0, sizes[name] - 1))
        )

    return st.fixed_dictionaries(
        {name: st.dictionaries(users, told(made), min_size=1, max_size=9) for name, made in SERVICES.items()}
    ).map(lambda answers: {name: answers[name] for name in SERVICES})


ANSWERS: Answers = {
    "web": {1: ("age", 0), 2: ("pay", 3), 3: ("age", 2), 4: ("size", 1)},
    "app": {3: ("age", 4), 1: ("pay", 1), 2: ("pay", 0)},
    "shop": {4: ("size", 2), 9: ("size", 0)},
}


class TestCounts:
    @pytest.mark.nightly
    @settings(max_examples=15, deadline=None)
    @given(answers_of(st.integers(0, 9)))
    def test_each_attribute_has_those_of_a_dictionary_for_each_user(self, answers):
        """Services that hold some attributes only, users of some services only, draws of their own at each."""
        counts = count(frames(answers), key="user", allow_disjoint=True)
        assert list(counts) == ["age", "pay", "size"]
        for name in counts:
            assert as_counter(counts[name]) == brute_force(answers, name)
            holders = [service for service, made in SERVICES.items() if name in made.attributes]
            assert [service.name for service in counts[name].services] == holders
        assert counts.n_users == len(set().union(*answers.values()))

    @pytest.mark.nightly
    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_files_and_texts_as_keys_change_nothing(self, tmp_path, suffix):
        made = frames(ANSWERS)
        paths: list[tuple[str, AttributeSampling, Path]] = []
        for name, bundle, rows in made:
            path, options = Path(tmp_path, name + suffix), " (HEADER)" if suffix == ".csv" else ""
            named = rows.assign(user=rows["user"].map("u{}".format)).sample(frac=1, random_state=2)
            with duckdb.connect() as connection:
                connection.register("named", named)
                connection.execute(f"COPY (SELECT * REPLACE (nullif(CAST({named.columns[-1]} AS DOUBLE), 'nan') AS "
                                   f"{named.columns[-1]}) FROM named) TO '{path}'{options}")  # fmt: skip
            paths.append((name, bundle, path))
        here, there = count(made, key="user"), count(paths, key="user")
        assert all(as_counter(here[name]) == as_counter(there[name]) for name in here)

    @pytest.mark.nightly
    def test_columns_of_text_and_of_numbers_stand_side_by_side(self):
        """Whole numbers, decimals and texts say the same; of several faults in a row the first column's is told."""
        made = frames(ANSWERS)
        web = made[0][2]
        mixed = web.assign(age=web["age"].astype("Int64"), pay=web["pay"].map(repr).replace("nan", None))
        here, there = (count([("web", WEB, rows), *made[1:]], key="user") for rows in (web, mixed))
        assert all(as_counter(here[name]) == as_counter(there[name]) for name in here)
        spoilt = web.assign(pay="banana", size="apple")
        with pytest.raises(
            InputError, match="got 4 of 4 rows that cannot be, the first in row 1: 'banana' is no number"
        ):
            count([("web", WEB, spoilt), *made[1:]], key="user")

    def test_columns_of_arrays_are_users_row_by_row(self):
        """NaN in a whole row: that user did not report to that service."""
        made = frames(ANSWERS)
        users = range(10)
        rows = [(name, bundle, {n: list(part.set_index("user").reindex(users)[n]) for n in bundle.attributes})
                for name, bundle, part in made]  # fmt: skip
        matched, aligned = count(made, key="user"), count(rows)
        assert aligned.n_users == matched.n_users
        assert all(as_counter(aligned[name]) == as_counter(matched[name]) for name in matched)

    def test_a_partition_gives_what_collecting_each_attribute_alone_gives(self):
        """Each user the same attribute at all services: the counts of the users who were dealt it."""
        rng = np.random.default_rng(3)
        values, dealt = {"age": rng.random(400), "pay": rng.random(400)}, rng.integers(2, size=400)
        sources: list[tuple[str, AttributeSampling, Any]] = []
        alone: dict[str, list[tuple[str, TabulatedMechanism, Any]]] = {"age": [], "pay": []}
        for service, made in (("web", WEB), ("app", APP)):
            columns = {name: np.full(400, np.nan) for name in made.attributes}
            for part, (name, column) in enumerate(values.items()):
                mine = dealt == part
                table = made.mechanisms[made.attributes.index(name)]
                columns[name][mine] = table.sample(column[mine], rng)
                alone[name].append((service, table, columns[name][mine]))
            sources.append((service, made, columns))
        counts = count(sources)
        for name, services in alone.items():
            assert as_counter(counts[name]) == as_counter(count(services))

    @pytest.mark.nightly
    def test_shards_add_up(self):
        more: Answers = {
            service: {user + 100: told for user, told in rows.items()} for service, rows in ANSWERS.items()
        }
        both: Answers = {service: ANSWERS[service] | more[service] for service in ANSWERS}
        one, other, all_ = (count(frames(each), key="user") for each in (ANSWERS, more, both))
        added = one + other
        assert added.n_users == all_.n_users
        assert all(as_counter(added[name]) == as_counter(all_[name]) for name in all_)

    def test_of_two_attributes_each_is_counted(self):
        made = AttributeSampling.of({"age": POINTS, "pay": POINTS, "size": POINTS}, 2, 2.0)
        reports = made.sample(np.random.default_rng(4).random((300, 3)), np.random.default_rng(5))
        counts = count(made, reports)
        assert counts.n_users == 300
        for name in made.attributes:
            own = reports[name][~np.isnan(reports[name])]
            assert as_counter(counts[name]) == as_counter(count(POINTS, own))


class TestRefusals:
    @staticmethod
    def refused(match: str, rows: list[tuple[int, str, int]], change=None, **options) -> None:
        made = frame(WEB, rows)
        if change is not None:
            change(made)
        sources = [("web", WEB, made), *frames(ANSWERS)[1:]]
        with pytest.raises(InputError, match=match) as told:
            count(sources, key="user", **options)
        assert "\n" not in str(told.value)

    @pytest.mark.slow
    def test_a_user_in_several_parts_of_a_partition(self):
        """Two rows about different attributes are two reports: a budget spent twice, which no attribute shows."""
        rows = [(3, "age", 0), (2, "pay", 0), (3, "pay", 1)]
        self.refused("report to a service once, whatever the attributes, got 1 users with several rows in", rows)
        made = [("web", WEB, frame(WEB, rows)), *frames(ANSWERS)[1:]]
        kept = count(made, key="user", keep_first=True, allow_disjoint=True)
        assert as_counter(kept["age"])[((0, 1), (0, 4))] == 1
        assert as_counter(kept["pay"])[((0, 1), (0, 0))] == 1
        assert kept["pay"].n_users == 2

    @pytest.mark.nightly
    def test_rows_that_hold_no_reports_of_the_mechanism(self):
        rows = [(3, "age", 0), (2, "pay", 0), (4, "age", 1)]

        def twice(made):
            made.loc[1, "age"] = 0.0

        def foreign(made):
            made.loc[2, "age"] = 7.5

        def empty(made):
            made.loc[1, "pay"] = np.nan

        self.refused("got 1 of 3 rows that cannot be, the first in row 2: 2 reports, where 1 are drawn", rows, twice)
        self.refused("the first in row 3: attribute 'age': 7.5 is no output of its table", rows, foreign)
        self.refused("must not miss values, got 1 missing, the first in row 2", rows, empty)
        for spoil, reason in ((twice, "2 reports"), (foreign, "7.5 is no output"), (empty, "no report")):
            made, account = frame(WEB, rows), SkippedRows()
            spoil(made)
            sources = [("web", WEB, made), *frames(ANSWERS)[1:]]
            counts = count(sources, key="user", skip_invalid=account, allow_disjoint=True)
            of_web = sum(int(counts[name].reports_of(0).sum()) for name in ("age", "pay"))
            assert (account.count, of_web) == (1, 2)
            assert reason in account.first[0]
            assert "service 'web'" in account.first[0]

    @pytest.mark.nightly
    def test_text_keys_and_columns(self, tmp_path):
        path = tmp_path / "web.csv"
        others = frames(ANSWERS)[1:]
        for text, match in (
            ("user,age,pay,size\n3,banana,,\n", "'banana' is no number"),
            ("user,age,pay,size\n,0,,\n", "key column 'user' of service 'web' .* must not miss values"),
            ("user,age,size\n3,0,\n", "column 'pay' of service 'web' .* must exist"),
            ("user,age,simulated_age,pay,size\n3,0,0,,\n", "in earnest or of a simulation"),
        ):
            path.write_text(text)
            with pytest.raises(InputError, match=match):
                count([("web", WEB, path), *others], key="user")
        path.write_text("user,age,pay,size\n3,banana,,\n,0,,\n1,0,,\n7,0\n3,0,,\n")
        account = SkippedRows()
        counts = count([("web", WEB, path), *others], key="user", skip_invalid=account, allow_disjoint=True)
        assert account.count == 3
        assert as_counter(counts["age"]) == {((0,), (0,)): 1, ((0, 1), (0, 4)): 1}

    @pytest.mark.slow
    def test_services_that_do_not_go_together(self):
        made = frames(ANSWERS)
        table = ("table", POINTS, {"user": [1], "report": [0.0]})
        with pytest.raises(InputError, match="all of several attributes"):
            count([made[0], table], key="user")  # pyright: ignore[reportCallIssue, reportArgumentType] -- what is tested
        with pytest.raises(InputError, match="services must have different names"):
            count([made[0], made[0]], key="user")
        with pytest.raises(InputError, match="services must have users in common, got none between service 'web'"):
            count([made[0], ("app", APP, frame(APP, [(77, "age", 0)]))], key="user")
        with pytest.raises(InputError, match="must name the column of users when services are matched"):
            count(made)
        with pytest.raises(InputError, match="must have a row for each user, got lengths 1 and 2"):
            count([("web", WEB, np.zeros((1, 3))), ("app", APP, np.zeros((2, 2)))])
        with pytest.raises(InputError, match="columns of their own names, got column 'x'"):
            count(made, key="user", column="x")  # pyright: ignore[reportCallIssue, reportArgumentType] -- what is tested
        with pytest.raises(InputError, match="another column than the attributes, got 'age' for both"):
            count(made, key="age")
        other = AttributeSampling.of({"age": make_exact(duchi([0.0, 2.0], 1.0)).mechanism}, 1, 1.0)
        with pytest.raises(InputError, match="attribute 'age': services must measure the same thing, got domain"):
            count(
                [made[0], ("odd", other, pd.DataFrame({"user": [1], "age": [other.mechanisms[0].low[0]]}))], key="user"
            )
        with pytest.raises(InputError, match="at most 62, got 63"):
            count([(f"s{j}", SHOP, made[2][2]) for j in range(63)], key="user")

    def test_attributes_that_there_are_not(self):
        counts = count(frames(ANSWERS), key="user")
        with pytest.raises(InputError, match="attributes are age, pay, size, got 'height'"):
            counts["height"]
        assert "height" not in counts
        with pytest.raises(InputError, match="same attributes only, got 'age'"):
            _ = counts + AttributeCounts({name: counts[name] for name in ("pay", "size")}, 9)
        with pytest.raises(InputError, match="at most the 1 users there are, got 2"):
            AttributeCounts({"age": counts["age"]}, 1)
        with pytest.raises(InputError, match="at least one attribute"):
            AttributeCounts({}, 1)
