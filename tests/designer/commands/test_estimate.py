"""`optldp estimate`: every method, what it prints, what it writes, and what it refuses."""

import json
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from optldp.designer.commands.handlers.numbers.fits import QUANTILES
from optldp.estimators import (
    DistributionEstimate,
    ReportCounts,
    count,
    estimate_combined_mean,
    estimate_distribution,
    estimate_mean,
)
from optldp.estimators.methods import DistributionMethod
from optldp.estimators.reading.columns import read_column
from optldp.mechanisms import TabulatedMechanism, duchi, piecewise, save_table, square_wave
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

KNOTS = np.linspace(0.0, 10.0, 9)
TABLES = {"sw": exact(square_wave(KNOTS, 2.0)), "pm": exact(piecewise(KNOTS, 2.0)), "sr": exact(duchi(KNOTS, 2.0))}
USERS = 600
VALUES = 10 * np.random.default_rng(1).beta(2, 5, USERS)
ONE = ("sw.json", "sw.csv")
THREE = ("sw.json", "sw.csv", "pm.json", "pm.parquet", "sr.json", "sr.csv", "--key", "user")
MEAN_METHODS = ("ua", "uwa", "population", "decoder")
DISTRIBUTION_METHODS = ("ule", "em", "ems", "mr", "smooth")

REPORTS = {}
for place, (name, table) in enumerate(TABLES.items()):
    chosen = np.arange(USERS)[place * 100 : USERS - 50 * place]
    REPORTS[name] = (chosen, table.sample(VALUES[chosen], np.random.default_rng(place)))


def write_reports(path: str, users: np.ndarray, reports: np.ndarray) -> None:
    """Write whole numbers for users, and reports to the last digit."""
    table = {"user": users.astype(np.int64), "report": reports.astype(np.float64)}
    with duckdb.connect() as connection:
        connection.register("given", table)
        relation = connection.sql("SELECT * FROM given")
        relation.write_csv(path) if path.endswith(".csv") else relation.write_parquet(path)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with the tables and reports of three services, users numbered."""
    folder = tmp_path_factory.mktemp("services")
    for name, (users, reports) in REPORTS.items():
        save_table(TABLES[name], folder / f"{name}.json")
        write_reports(str(folder / f"{name}.{'parquet' if name == 'pm' else 'csv'}"), users, reports)
    return folder


@pytest.fixture(autouse=True)
def files(here, written):
    """The three services' files in the working folder."""
    shutil.copytree(written, here, dirs_exist_ok=True)
    return here


def counted(*names: str) -> ReportCounts:
    sources = [(n, TABLES[n], {"user": REPORTS[n][0], "report": REPORTS[n][1]}) for n in names]
    return count(sources, key="user")


def in_json(given: Any) -> Any:
    """What JSON holds of a number or a list, to nine digits: null for what has none."""
    if isinstance(given, list):
        return [in_json(one) for one in given]
    if isinstance(given, float):
        return None if np.isnan(given) else pytest.approx(given, abs=1e-9)
    return given


@cache
def distribution(names: tuple[str, ...], method: DistributionMethod) -> DistributionEstimate:
    return estimate_distribution(counted(*names), method=method)


def without_rank() -> TabulatedMechanism:
    """Two outputs with the same law for every input."""
    return TabulatedMechanism(KNOTS, np.arange(2.0), np.arange(2.0), np.full((9, 2), 0.5), 1.0)


@pytest.mark.parametrize("files_given", [ONE, THREE], ids=["one-service", "three-services"])
class TestEveryMethod:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", MEAN_METHODS)
    def test_means_are_the_librarys(self, optldp, files_given, method):
        """The combined mean of the counted reports, with its interval."""
        found = json.loads(optldp("estimate", *files_given, "--method", method, "--confidence", 0.9, "--json").stdout)
        names = ("sw",) if files_given is ONE else tuple(TABLES)
        expected = estimate_combined_mean(counted(*names), method=method).to_dict(0.9)
        assert {key: found[key] for key in expected} == pytest.approx(expected)
        assert found["seconds"] > 0

    @pytest.mark.nightly
    @pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
    @pytest.mark.parametrize("of", ["mean", "distribution", "quantiles"])
    def test_distributions_are_the_librarys(self, optldp, files_given, method, of):
        """Whatever is asked of it, with how converged it is."""
        found = json.loads(optldp("estimate", *files_given, "--method", method, "--of", of, "--json").stdout)
        names = ("sw",) if files_given is ONE else tuple(TABLES)
        expected = distribution(names, method)
        assert found["method"] == ("em" if method == "ule" else method)
        assert found["n"] == expected.n
        assert found["iterations"] == expected.fit.iterations
        assert found["certificate"] == pytest.approx(expected.fit.certificate, abs=1e-9)
        assert found["loglik"] == pytest.approx(expected.fit.loglik)
        assert found["stop"] in ("certificate", "loglik-change", "rounding")
        assert found["seconds"] > 0
        if of == "quantiles":
            quantiles = [expected.quantile(level) for level in QUANTILES]
            assert [q["quantile"] for q in found["quantiles"]] == list(QUANTILES)
            for key in ("value", "low", "high"):
                assert [q[key] for q in found["quantiles"]] == in_json([q.to_dict()[key] for q in quantiles])
            return
        mean = found if of == "mean" else found["mean"]
        for key in ("value", "std_error", "low", "high", "confidence", "n", "method", "target"):
            assert mean[key] == in_json(expected.mean().to_dict()[key])
        if of == "distribution":
            variance = expected.variance().to_dict()
            assert found["variance"] == {key: in_json(value) for key, value in variance.items()}
            assert found["knot"] == list(KNOTS)
            for key, column in expected.to_dict().items():
                assert found[key] == (in_json(column) if isinstance(column, list) else column)


class TestReduction:
    @pytest.mark.nightly
    def test_its_settings_are_the_librarys(self, optldp):
        """Threshold, least number of components and pruning reach the estimator."""
        options = ("--threshold", 0.1, "--least-components", 2, "--prune")
        found = json.loads(
            optldp("estimate", *ONE, "--method", "mr", *options, "--of", "distribution", "--json").stdout
        )
        counts = ReportCounts.from_reports(TABLES["sw"], REPORTS["sw"][1])
        expected = estimate_distribution(counts, method="mr", threshold=0.1, least_components=2, operation="prune")
        assert found["value"] == pytest.approx(expected.value, abs=1e-9)
        assert found["components"] == expected.components < distribution(("sw",), "mr").components
        assert min(found["value"]) == 0.0


class TestDefaults:
    def test_one_services_mean_is_decoded_report_by_report(self, optldp):
        """No method, no key: the unbiased mean with the method's own name."""
        found = json.loads(optldp("estimate", *ONE, "--json").stdout)
        expected = estimate_mean(count(TABLES["sw"], REPORTS["sw"][1])).to_dict()
        assert {name: found[name] for name in expected} == pytest.approx(expected)

    @pytest.mark.parametrize("method", [(), ("--method", "ua")])
    def test_raw_reports_are_averaged_where_asked(self, optldp, method):
        """As papers do, by the default method and by its name."""
        found = json.loads(optldp("estimate", *ONE, "--raw", *method, "--json").stdout)
        expected = estimate_mean(count(TABLES["sw"], REPORTS["sw"][1]), raw=True).to_dict()
        assert {name: found[name] for name in expected} == pytest.approx(expected)
        assert found["method"] == "affine"

    @pytest.mark.nightly
    @pytest.mark.parametrize("method", ["ua", "uwa"])
    def test_raw_reports_of_several_services_are_averaged_where_asked(self, optldp, method):
        """Matched by user; UA is an average over users of averages of their unbiased numbers."""
        found = json.loads(optldp("estimate", *THREE, "--raw", "--method", method, "--json").stdout)
        sources = [
            (table, {"user": users, "report": reports})
            for table, (users, reports) in zip(TABLES.values(), REPORTS.values(), strict=True)
        ]
        counts = count(sources, key="user", raw=True)
        expected = estimate_combined_mean(counts, method=method, raw=True).to_dict()
        assert {name: found[name] for name in expected} == pytest.approx(expected)
        assert found["raw"] is True
        assert found["value"] != pytest.approx(estimate_combined_mean(counts, method=method).value, rel=1e-6)
        if method == "ua":
            numbers = np.full((USERS, len(TABLES)), np.nan)
            for j, (name, (users, reports)) in enumerate(REPORTS.items()):
                low, high = TABLES[name].mean([0.0, 10.0])
                numbers[users, j] = 10 * (reports - low) / (high - low)
            assert found["value"] == pytest.approx(np.nanmean(numbers, axis=1).mean())

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("of", "method"), [("mean", "population"), ("distribution", "smooth"), ("quantiles", "smooth")]
    )
    def test_several_services_use_the_population_or_the_smooth_fit(self, optldp, of, method):
        """As the help says."""
        assert json.loads(optldp("estimate", *THREE, "--of", of, "--json").stdout)["method"] == method


class TestAlike:
    """Users of THREE differ by chance in which services they report to; those of `unlike` by their values."""

    @pytest.mark.nightly
    def test_users_are_weighed_and_the_assumption_is_tested_and_said(self, optldp):
        done, plain = optldp("estimate", *THREE, "--alike"), optldp("estimate", *THREE)
        told, equal = (json.loads(optldp("estimate", *THREE, *more, "--json").stdout) for more in (("--alike",), ()))
        mine = estimate_combined_mean(counted("sw", "pm", "sr"), alike=True)
        assert (told["value"], told["std_error"]) == (mine.value, mine.std_error)
        assert (told["alike"], equal["alike"]) == (True, False)
        assert told["std_error"] < equal["std_error"]
        assert told["participation"]["degrees"] == len(told["participation"]["sets"]["n"]) - 1 == 2
        assert mine.participation is not None
        assert told["participation"]["p"] == mine.participation.p
        assert "as if who reports to which said nothing of the value: the means of 3 sets" in done.stdout
        assert ("warning" in done.stderr) == mine.participation.doubtful
        worth = told["participation"]["gain"] >= 1.1 and not mine.participation.doubtful
        assert ("--alike weighs them" in plain.stderr) == worth

    @pytest.mark.slow
    def test_users_who_are_not_alike_are_warned_of(self, optldp):
        """Those of the second service have the largest values."""
        users = np.argsort(VALUES)[-200:]
        write_reports("unlike.csv", users, TABLES["pm"].sample(VALUES[users], np.random.default_rng(5)))
        done = optldp("estimate", *ONE, "pm.json", "unlike.csv", "--key", "user", "--alike")
        assert "warning: users of different services are not alike: the means of 2 sets" in done.stderr

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ((*ONE, "--alike"), "--alike is for several services: leave it out"),
            (
                (*THREE, "--alike", "--method", "ua"),
                "--alike is for --method population, decoder and bias-aware, got ua",
            ),
            ((*THREE, "--alike", "--of", "quantiles"), "--alike is for means: a distribution is fitted to all reports"),
            ((*THREE, "--target", "users", "--method", "em"), "--target is of the population alone for an estimated"),
            ((*THREE, "--target", "users", "--method", "uwa"), "target users is for ua, population and decoder with"),
        ],
    )
    def test_what_it_is_not_for_is_refused(self, refusal, given, says):
        assert says in refusal("estimate", *given)


class TestOptions:
    def test_cells_replace_the_knots(self, optldp):
        """So many equal cells of the domain."""
        found = json.loads(
            optldp("estimate", *ONE, "--method", "ems", "--of", "distribution", "--cells", 4, "--json").stdout
        )
        assert found["cell_low"] == [0.0, 2.5, 5.0, 7.5]
        assert found["cell_high"] == [2.5, 5.0, 7.5, 10.0]
        assert found["knot"] == [1.25, 3.75, 6.25, 8.75]

    def test_quantiles_are_those_asked_for(self, optldp):
        """In their order."""
        found = json.loads(
            optldp(
                "estimate", *ONE, "--method", "ems", "--of", "quantiles", "--quantile", 0.9, "--quantile", 0.1, "--json"
            ).stdout
        )
        assert [q["quantile"] for q in found["quantiles"]] == [0.9, 0.1]
        assert found["quantiles"][0]["value"] > found["quantiles"][1]["value"]

    @pytest.mark.nightly
    def test_a_range_has_a_probability(self, optldp):
        """With its interval, in JSON and in words."""
        arguments = ["estimate", *ONE, "--method", "em", "--of", "distribution", "--between", 2, 5]
        found = json.loads(optldp(*arguments, "--json").stdout)["between"]
        expected = estimate_distribution(counted("sw"), method="em").probability(2, 5)
        assert found == pytest.approx({"low_end": 2, "high_end": 5} | expected.to_dict())
        assert f"between 2 and 5    {expected.value:.7g}, from" in optldp(*arguments).stdout

    @pytest.mark.nightly
    def test_above_a_value_is_another_range(self, optldp):
        """With the knot from which the high end counts, in JSON and in words, whatever is asked for beside it."""
        arguments = ["estimate", *ONE, "--method", "em", "--of", "quantiles", "--above", 2]
        done = optldp(*arguments, "--json")
        found = json.loads(done.stdout)["above"]
        expected = estimate_distribution(counted("sw"), method="em").probability_above(2)
        assert found == pytest.approx({"limit": 2, "next_knot": found["next_knot"]} | expected.to_dict())
        assert found["next_knot"] == TABLES["sw"].knots[TABLES["sw"].knots > 2][0]
        assert f"a value between 2 and {found['next_knot']:g} is reported as either" in done.stderr
        assert f"above 2 {expected.value:.7g}, from" in " ".join(optldp(*arguments).stdout.split())

    def test_a_share_alone_is_asked_of_the_distribution(self):
        """Not of a mean, which has none; what was named stays."""
        from optldp.designer.commands.handlers.numbers.estimates import with_usual
        from optldp.designer.commands.handlers.options import EstimateOptions

        files = [Path("t.json"), Path("r.csv")]
        assert with_usual(EstimateOptions(files=files, above=20.0), []).of == "distribution"
        assert with_usual(EstimateOptions(files=files, between=(1.0, 2.0)), []).of == "distribution"
        assert with_usual(EstimateOptions(files=files, above=20.0, of_text="quantiles"), []).of == "quantiles"
        assert with_usual(EstimateOptions(files=files), []).of is None

    @pytest.mark.nightly
    def test_a_range_from_just_above_a_knot_says_what_it_cannot_tell(self, optldp):
        """And what asks for it; one that begins at a knot or well between two has nothing to say."""
        arguments = ["estimate", *ONE, "--method", "em", "--of", "distribution", "--between"]
        assert "--above 0 asks for what is above" in optldp(*arguments, 1e-6, 10).stderr
        assert "--above" not in optldp(*arguments, 0, 10).stderr + optldp(*arguments, 0.5, 10).stderr

    @pytest.mark.nightly
    def test_the_papers_stop_is_plain_em(self, optldp):
        """Stopped by the change of the log-likelihood, and said so."""
        found = json.loads(
            optldp("estimate", *ONE, "--method", "em", "--of", "quantiles", "--stop", "loglik", "--json").stdout
        )
        assert (found["stop"], found["solver"]) == ("loglik-change", "em")

    @pytest.mark.nightly
    def test_repeated_users_are_refused_or_their_first_report_kept(self, optldp, refusal):
        """The count is in the message."""
        users, reports = REPORTS["sw"]
        write_reports("twice.csv", np.append(users, 5), np.append(reports, reports[0]))
        arguments = ["estimate", "sw.json", "twice.csv", "--key", "user", "--method", "ua"]
        assert "got 1 users with several reports" in refusal(*arguments)
        kept = json.loads(optldp(*arguments, "--keep-first", "--json").stdout)
        once = json.loads(optldp("estimate", *ONE, "--key", "user", "--method", "ua", "--json").stdout)
        assert kept["value"] == once["value"]

    @pytest.mark.slow
    def test_missing_reports_are_refused_or_left_out(self, optldp, refusal):
        """For distributions as for means."""
        Path("gaps.csv").write_text(Path("sw.csv").read_text() + "9999,\n")
        arguments = ["estimate", "sw.json", "gaps.csv", "--of", "distribution", "--method", "ems"]
        assert "--drop-missing" in refusal(*arguments)
        assert json.loads(optldp(*arguments, "--drop-missing", "--json").stdout)["n"] == USERS

    @pytest.mark.slow
    def test_a_table_may_be_used_twice(self, optldp):
        """Two services with equal tables, told apart by number."""
        found = optldp("estimate", *ONE, "sw.json", "sw.csv", "--key", "user", "--method", "ua", "--json")
        assert json.loads(found.stdout)["n"] == USERS


class TestText:
    def test_a_distribution_says_where_its_weights_are(self, optldp):
        """One fact per line, and how to get the arrays; how well it is solved is for programs."""
        shown = optldp("estimate", *ONE, "--of", "distribution", "--method", "ems").stdout.splitlines()
        assert shown[0] == "distribution of the values, and their mean"
        assert shown[-1] == "the weights themselves: --out FILE, --plot FILE or --json"
        names = " ".join(line.split()[0] for line in shown[1:-1])
        mean = "value std_error low high confidence n method target one_report bias_low bias_high"
        assert names == f"{mean} variance seconds bias"

    @pytest.mark.slow
    def test_the_mean_of_ems_is_not_shown_without_its_bias(self, optldp):
        """No interval, and how far it is from the unbiased mean of the same reports."""
        found = json.loads(optldp("estimate", *ONE, "--of", "mean", "--method", "ems", "--json").stdout)
        unbiased = estimate_mean(count(TABLES["sw"], REPORTS["sw"][1]))
        assert (found["low"], found["high"]) == (None, None)
        assert found["bias"]["value"] == pytest.approx(found["value"] - unbiased.value, rel=0.2)
        assert found["bias"]["std_error"] == pytest.approx(unbiased.std_error, rel=0.05)
        shown = optldp("estimate", *ONE, "--of", "mean", "--method", "ems").stdout
        assert "low         unknown" in shown
        assert "bias  " in shown

    @pytest.mark.nightly
    def test_the_smooth_fit_says_what_it_averages(self, optldp):
        """Newton's decrement, orders, and what the certificate is of."""
        found = json.loads(optldp("estimate", *ONE, "--of", "distribution", "--json").stdout)
        assert found["decrement"] < 1e-5
        assert sum(found["orders"]) == pytest.approx(1.0)
        assert found["certificate_of"] == "log-likelihood"

    def test_a_method_that_is_gone_names_what_took_its_place(self, optldp):
        done = optldp("estimate", *ONE, "--of", "distribution", "--method", "penalised")
        assert done.exit_code == 2
        assert "method penalised is gone: smooth" in " ".join(done.stderr.split())

    @pytest.mark.nightly
    def test_quantiles_are_a_table(self, optldp):
        """Levels down, value and interval across."""
        shown = optldp("estimate", *ONE, "--of", "quantiles", "--method", "em").stdout.splitlines()
        assert shown[1].split() == ["quantile", "value", "low", "high"]
        assert [line.split()[0] for line in shown[2:7]] == ["0.05", "0.25", "0.5", "0.75", "0.95"]
        assert "solver" not in "\n".join(shown)

    @pytest.mark.nightly
    def test_intervals_hold_at_once_where_that_is_asked_for(self, optldp):
        """Cells, ranges and quantiles: longer, and said; the confidence is that of all of them."""
        asked = ["estimate", *ONE, "--method", "em", "--json", "--of"]
        each, all_ = (json.loads(optldp(*asked, "distribution", *more).stdout) for more in ((), ("--simultaneous",)))
        assert (each["simultaneous"], all_["simultaneous"], all_["confidence"]) == (False, True, 0.95)
        assert sum(all_["high"]) > sum(each["high"])
        assert sum(each["ranges"]["value"]) == pytest.approx(1.0)
        one, every = (
            json.loads(optldp(*asked, "quantiles", *m).stdout)["quantiles"] for m in ((), ("--simultaneous",))
        )
        assert all(a["low"] >= b["low"] and a["high"] <= b["high"] for a, b in zip(one, every, strict=True))
        assert every[0]["confidence"] == 0.95

    def test_help_shows_its_examples_line_by_line(self, optldp):
        """They fit an ordinary terminal."""
        shown = [line.strip() for line in optldp("estimate", "--help-all").stdout.splitlines()]
        assert "Example: optldp estimate mech.json reports.csv" in shown
        assert "Example: optldp estimate mech.json reports.csv --of distribution --out d.csv" in shown
        assert "Example: optldp estimate a.json a.csv b.json b.parquet --key user" in shown


class TestFiles:
    @pytest.mark.nightly
    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_the_distribution_is_written(self, optldp, suffix):
        """Column by column what JSON has."""
        found = json.loads(
            optldp(
                "estimate", *ONE, "--method", "em", "--of", "distribution", "--out", f"dist.{suffix}", "--json"
            ).stdout
        )
        for column in ("knot", "cell_low", "cell_high", "value", "std_error", "low", "high"):
            assert read_column(f"dist.{suffix}", column) == pytest.approx(np.array(found[column]), rel=1e-15)

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG\r\n\x1a\n"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
    def test_the_picture_is_drawn(self, optldp, suffix, start):
        """Also where only the mean is printed."""
        made = optldp("estimate", *ONE, "--method", "ems", "--plot", f"dist.{suffix}")
        assert made.exit_code == 0
        assert Path(f"dist.{suffix}").read_bytes().startswith(start)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--out", "dist.txt"), "must end in .csv or .parquet, got 'dist.txt'"),
            (("--plot", "dist.bmp"), "must end in .png or .svg or .pdf, got 'dist.bmp'"),
            (("--out", "dist.csv", "--plot", "dist"), "must end in .png or .svg or .pdf, got 'dist'"),
            (("--out", "none/dist.csv"), "the output's folder must exist, got 'none/dist.csv'"),
            (("--out", "dist.csv", "--plot", "none/d.png"), "the output's folder must exist, got 'none/d.png'"),
            (("--out", "sw.csv"), "outputs must not replace inputs, got 'sw.csv' for both"),
            (("--out", "./sw.csv"), "outputs must not replace inputs, got 'sw.csv' for both"),
            (("--out", "folder.csv"), "the output must be a file, got the folder 'folder.csv'"),
            (("--out", "dist.csv", "--plot", "folder.png"), "the output must be a file, got the folder 'folder.png'"),
        ],
    )
    def test_places_that_cannot_be_written_are_refused_before_any_work(self, refusal, options, says):
        """And before anything else is written."""
        for name in ("folder.csv", "folder.png"):
            Path(name).mkdir()
        assert says in refusal("estimate", *ONE, "--of", "distribution", *options)

    def test_without_matplotlib_nothing_is_written(self, refusal, monkeypatch):
        """The picture is drawn before the distribution is written."""
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        says = refusal("estimate", *ONE, "--method", "ems", "--out", "dist.csv", "--plot", "dist.png")
        assert "plots need matplotlib: pip install matplotlib" in says

    @pytest.mark.parametrize("moment", ["count", "estimate_distribution"])
    def test_ctrl_c_leaves_nothing(self, optldp, here, monkeypatch, moment):
        """Exit code 130, one word, and the folder as it was."""

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(f"optldp.estimators.{moment}", interrupted)
        self.assert_interrupted(optldp, here, "dist.csv", "dist.png", expected=set())

    def test_ctrl_c_while_drawing_leaves_no_part_of_a_picture(self, optldp, here, monkeypatch):
        """What was whole before stays whole."""

        def interrupted(_, path, **__):
            Path(path).write_bytes(b"\x89PNG")
            raise KeyboardInterrupt

        monkeypatch.setattr("matplotlib.figure.Figure.savefig", interrupted)
        self.assert_interrupted(optldp, here, "dist.csv", "dist.png", expected={"dist.csv"})
        assert read_column("dist.csv", "value").sum() == pytest.approx(1.0)

    def assert_interrupted(self, optldp, here, out, plot, *, expected):
        before = set(here.iterdir())
        result = optldp("estimate", *ONE, "--method", "ems", "--out", out, "--plot", plot)
        *written, last = result.stderr.splitlines()
        assert (result.exit_code, result.stdout, last) == (130, "", "optldp: interrupted")
        assert [line.split()[:3] for line in written] == [["optldp:", "wrote", name] for name in expected]
        assert {path.name for path in set(here.iterdir()) - before} == expected


class TestBadInput:
    @pytest.mark.parametrize("of", [(), ("--of", "distribution"), ("--method", "ua")])
    def test_reports_that_the_table_cannot_make_are_counted(self, refusal, of):
        """With the first of them and its row."""
        text = Path("sw.csv").read_text().splitlines()
        text[3], text[8] = "2,999", "7,-999"
        Path("foreign.csv").write_text("\n".join(text) + "\n")
        says = refusal("estimate", "sw.json", "foreign.csv", *of)
        assert "2 of 600" in says
        assert "999" in says
        assert "row 3" in says or "row 2" in says

    def test_tables_of_different_domains_are_refused(self, refusal):
        """With both."""
        save_table(exact(duchi(2 * KNOTS, 1.0)), "wide.json")
        says = refusal("estimate", *ONE, "wide.json", "sr.csv", "--key", "user")
        assert "got domain (0.0, 10.0) for 'sw' but (0.0, 20.0) for 'wide'" in says

    def test_tables_of_different_units_are_refused(self, refusal):
        """With both."""
        save_table(replace(TABLES["sr"], units="kg"), "heavy.json")
        says = refusal("estimate", *ONE, "heavy.json", "sr.csv", "--key", "user")
        assert "got units '' for 'sw' but 'kg' for 'heavy'" in says

    @pytest.mark.parametrize("of", [(), ("--of", "distribution")])
    def test_a_service_without_reports_is_refused(self, refusal, of):
        """It is named."""
        Path("none.csv").write_text("user,report\n")
        says = refusal("estimate", *ONE, "sr.json", "none.csv", "--key", "user", *of)
        assert "none.csv" in says

    @pytest.mark.nightly
    def test_services_without_common_users_are_refused_unless_allowed(self, optldp, refusal):
        """The cure is named."""
        users, reports = REPORTS["sr"]
        write_reports("strangers.csv", users + 10_000, reports)
        arguments = ["estimate", *ONE, "sr.json", "strangers.csv", "--key", "user"]
        says = refusal(*arguments)
        assert "services must have users in common" in says
        assert "--allow-disjoint" in says
        found = json.loads(optldp(*arguments, "--allow-disjoint", "--json").stdout)
        assert found["n"] == USERS + len(users)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (
                ("--key", "person"),
                "key column 'person' of service 'sw' ('sw.csv') must exist: the file has 'user'",
            ),
            ((), "key"),
            (("--key", "report"), "key and column must differ, got 'report' for both"),
        ],
    )
    def test_a_key_must_be_there(self, refusal, options, says):
        """In every file, and asked for with several."""
        assert says in refusal("estimate", *ONE, "sr.json", "sr.csv", *options)

    @pytest.mark.parametrize("method", ["ua", "population", "decoder", None])
    def test_a_table_without_rank_names_what_can_still_be_estimated(self, refusal, method):
        """No unbiased mean."""
        save_table(exact(without_rank()), "blind.json")
        write_reports("blind.csv", np.arange(50), np.arange(50) % 2)
        chosen = () if method is None else ("--method", method)
        says = refusal("estimate", "blind.json", "blind.csv", *chosen)
        assert "an unbiased mean must be possible" in says
        assert "or estimate the distribution, of which the reports still fix" in says

    @pytest.mark.parametrize("method", ["ua", "uwa", "population", "decoder", None])
    def test_one_user_is_too_few_for_a_standard_error(self, refusal, method):
        """Two are the least."""
        Path("one.csv").write_text("\n".join(Path("sw.csv").read_text().splitlines()[:2]) + "\n")
        chosen = () if method is None else ("--method", method)
        assert "must be at least 2 for a standard error, got 1" in refusal("estimate", "sw.json", "one.csv", *chosen)

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("method", ["population", "smooth"])
    def test_cell_grids_that_disagree_are_refused_unless_cells_are_given(self, optldp, refusal, method):
        """The knot that is missing is named."""
        save_table(exact(duchi(np.linspace(0.0, 10.0, 6), 2.0)), "coarse.json")
        arguments = ["estimate", *ONE, "coarse.json", "sr.csv", "--key", "user", "--method", method]
        assert "cell grids must agree, but one of 6 knots has 2, which the finest, of 9, lacks" in refusal(*arguments)
        assert optldp(*arguments, "--cells", 5).exit_code == 0

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("sw.json",), "tables and reports must come in pairs, got 1 files: TABLE REPORTS"),
            ((*ONE, "sr.json"), "tables and reports must come in pairs, got 3 files"),
            ((*ONE, "--method", "uwa", "--of", "distribution"), "--method uwa estimates a mean, not distribution: use"),
            ((*ONE, "--method", "ua", "--of", "quantiles"), "--method ua estimates a mean, not quantiles: use"),
            ((*ONE, "--method", "ems", "--stop", "loglik"), "--stop is for --method em or ule: leave it out"),
            (
                (*ONE, "--raw", "--method", "decoder"),
                "--raw is for the plain mean of one table and --method ua and uwa of",
            ),
            ((*THREE, "--raw"), "--method ua and uwa of several services, got none: choose one of these, or leave"),
            ((*THREE, "--raw", "--method", "ua", "--winsorise", 0.1), "--winsorise is for the plain mean of one table"),
            ((*ONE, "--prune"), "--prune is for --method mr: leave it out"),
            ((*ONE, "--method", "em", "--threshold", 0.1), "--threshold is for --method mr or base-cut: leave it out"),
            ((*ONE, "--method", "ems", "--least-components", 3), "--least-components is for --method mr: leave it out"),
            (
                (*ONE, "--method", "mr", "--preselect", 0),
                "preselect of --method mr is for categories, which have",
            ),
            ((*ONE, "--stop", "loglik"), "--stop is for --method em or ule: leave it out"),
            ((*ONE, "--quantile", 0.5), "--quantile is for --of quantiles: leave it out"),
            ((*ONE, "--of", "quantiles", "--quantile", 1.5), "must lie strictly between 0 and 1, got 1.5"),
            ((*ONE, "--out", "dist.csv"), "--out needs a distribution, got --of mean: add --of distribution"),
            ((*ONE, "--method", "ua", "--plot", "d.png"), "--plot needs a distribution, got --of mean"),
            ((*THREE, "--of", "mean", "--between", 1, 2), "--between needs a distribution, got --of mean"),
            ((*ONE, "--of", "mean", "--above", 0), "--above needs a distribution, got --of mean"),
            ((*ONE, "--cells", 5), "--cells needs a distribution, got --of mean"),
            ((*THREE, "--method", "ua", "--cells", 5), "--cells needs a distribution, got --of mean"),
            ((*ONE, "--method", "em", "--between", 3, 1), "--between must have its ends in order, got 3.0 1.0"),
            ((*ONE, "--method", "em", "--confidence", 1), "confidence must lie strictly between 0 and 1, got 1.0"),
            ((*ONE, "--method", "ua", "--confidence", "nan"), "confidence must lie strictly between 0 and 1, got nan"),
            (("sw.csv", "sw.json"), "sw.csv"),
            (("none.json", "sw.csv"), "none.json"),
            (("sw.json", "none.csv", "--of", "distribution"), "none.csv"),
        ],
    )
    def test_contradictions_are_refused(self, refusal, arguments, says):
        """One line, exit code 2, nothing written."""
        assert says in refusal("estimate", *arguments)

    @pytest.mark.parametrize("option", [("--method", "mle"), ("--of", "median"), ("--cells", 0), ("--stop", "now")])
    def test_words_that_are_no_choice_are_wrong_usage(self, optldp, option):
        """The choices are typer's to list."""
        assert optldp("estimate", *ONE, *option).exit_code == 2
