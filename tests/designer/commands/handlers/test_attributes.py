"""Several attributes at several services, on the command line: what the library makes of the same files."""

from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import count, estimate_attribute_means, estimate_combined_mean, estimate_distribution
from optldp.estimators.attributes import AttributeCounts
from optldp.mechanisms import AttributeSampling, duchi, load_mechanism, make_exact, piecewise, save_bundle, save_table

from ...conftest import found

KNOTS = np.linspace(0.0, 60.0, 5)
PAY = {"pay": make_exact(piecewise(KNOTS, 1.0)).mechanism, "pay2": make_exact(duchi(KNOTS, 2.0)).mechanism}
AGE = make_exact(piecewise(np.linspace(18.0, 90.0, 5), 1.0)).mechanism


@pytest.fixture
def collected(here, optldp) -> list[tuple[str, str]]:
    """Tables and reports of two services that ask for pay and age, of 1,000 people, and of one that asks for age."""
    bundles = {
        "both": AttributeSampling.of({"pay": PAY["pay"], "age": AGE}, 1, 1.0),
        "both2": AttributeSampling.of({"age": AGE, "pay": PAY["pay2"]}, 1, 2.0),
        "one": AttributeSampling.of({"age": AGE}, 1, 1.0),
    }
    rng = np.random.default_rng(1)
    rows = zip(range(1000), rng.uniform(0, 60, 1000), rng.uniform(18, 90, 1000), strict=True)
    Path("people.csv").write_text("id,pay,age\n" + "".join(f"p{i},{pay},{age}\n" for i, pay, age in rows))
    made = []
    for number, (name, bundle) in enumerate(bundles.items()):
        save_bundle(bundle, f"{name}.json")
        reports = f"{name}.{'csv' if number else 'parquet'}"
        done = optldp("perturb", f"{name}.json", "people.csv", "--key", "id", "--out", reports, "--seed", number)
        assert done.exit_code == 0, done.output
        made.append((f"{name}.json", reports))
    return made


def words(collected: list[tuple[str, str]]) -> list[str]:
    return [word for pair in collected for word in pair]


def attributes_of(path: str) -> AttributeSampling:
    made = load_mechanism(path)
    assert isinstance(made, AttributeSampling)
    return made


def counted(collected: list[tuple[str, str]]) -> AttributeCounts:
    return count([(Path(table).stem, attributes_of(table), reports) for table, reports in collected], key="id")


@pytest.mark.nightly
def test_means_of_all_attributes_by_default(optldp, collected):
    """A service that holds some attributes only takes part in these; --out writes a row for each."""
    result = found(optldp, "estimate", *words(collected), "--key", "id", "--out", "means.csv")
    known = estimate_attribute_means(counted(collected))
    assert result["attribute"] == ["pay", "age"] == list(known.attributes)
    assert result["value"] == pytest.approx(known.value)
    assert result["std_error"] == pytest.approx(known.std_error)
    assert (result["method"], result["simulated"]) == ("population", True)
    assert Path("means.csv").read_text().splitlines()[0].startswith("attribute,value,std_error")
    by_average = found(optldp, "estimate", *words(collected), "--key", "id", "--method", "ua")
    assert by_average["value"] == pytest.approx(estimate_attribute_means(counted(collected), method="ua").value)


@pytest.mark.nightly
def test_one_attribute_has_means_distributions_and_quantiles(optldp, collected):
    """The estimators of tables of numbers, from the counts of that attribute."""
    both = (*words(collected[:2]), "--key", "id", "--attribute", "pay")
    counts = counted(collected[:2])["pay"]
    mean = found(optldp, "estimate", *both)
    known = estimate_combined_mean(counts, alike=True)
    assert (mean["attribute"], mean["n"]) == ("pay", known.n)
    assert (mean["value"], mean["std_error"]) == pytest.approx((known.value, known.std_error))
    fit = found(optldp, "estimate", *both, "--method", "em", "--of", "distribution", "--plot", "pay.png")
    assert fit["value"] == pytest.approx(estimate_distribution(counts, method="em").value, abs=1e-6)
    assert Path("pay.png").stat().st_size > 0
    shares = found(optldp, "estimate", *both, "--of", "quantiles", "--method", "em", "--quantile", 0.5)
    assert shares["quantiles"][0]["value"] == pytest.approx(
        estimate_distribution(counts, method="em").quantile(0.5).value, abs=1e-4
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["em", "mr", "smooth"])
def test_one_attribute_of_one_service_can_be_fitted(optldp, collected, method):
    """No key is needed: rows are users."""
    table, reports = collected[0]
    counts = count(attributes_of(table), reports)["pay"]
    result = found(optldp, "estimate", table, reports, "--attribute", "pay", "--method", method)
    known = estimate_distribution(counts, method=method).mean()
    assert (result["method"], result["n"]) == (known.method, known.n)
    assert result["value"] == pytest.approx(known.value, abs=1e-4)


@pytest.mark.nightly
def test_the_plain_mean_of_one_attribute_is_the_row_of_all(optldp, collected):
    every = found(optldp, "estimate", *collected[0])
    one = found(optldp, "estimate", *collected[0], "--attribute", "age", "--of", "mean")
    place = every["attribute"].index("age")
    for name in ("value", "std_error", "n", "one_report"):
        assert one[name] == every[name][place]
    assert one["attribute"] == "age"
    done = optldp("estimate", *collected[0], "--attribute", "age", "--of", "distribution")
    assert "attribute" in done.stdout


@pytest.mark.nightly
def test_bad_rows_are_left_out_and_counted(optldp, refusal, collected):
    """Two rows of a user, about different attributes, are two reports; a cell of text is none."""
    text = Path("both2.csv").read_text().splitlines()
    user = next(row for row in text[1:] if row.split(",")[1] == "")
    Path("both2.csv").write_text("\n".join([*text, user.split(",")[0] + f",{AGE.low[0]},,", "p0,banana,,"]) + "\n")
    arguments = ("estimate", *words(collected[:2]), "--key", "id")
    assert "'banana' is no number" in refusal(*arguments)
    assert "got 1 users with several rows in service 'both2'" in refusal(*arguments, "--skip-invalid")
    result = found(optldp, *arguments, "--skip-invalid", "--keep-first")
    assert result["skipped"] == 1
    assert "service 'both2'" in result["skipped_first"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--attribute", "pay"), "must hold the attribute 'pay', got age in 'one.json': leave it out"),
        (("--attribute", "height"), "must hold the attribute 'height', got pay, age in 'both.json'"),
        (
            ("--of", "quantiles"),
            "a distribution is one attribute's, got none: choose it by --attribute, one of pay, age",
        ),
        (("--method", "mr"), "choose it by --attribute, one of pay, age"),
        (("--method", "unbiased"), "--method unbiased is for frequencies or one service alone"),
        (("--column", "pay"), "--column is of no use to attributes"),
        (("--level-column", "pay"), "--level-column is for levels of budgets"),
        (("--winsorise", 0.1), "--winsorise is for the plain mean of one table"),
        (("--plot", "x.png"), "--plot needs a distribution"),
        (("--attribute", "age", "--out", "x.csv"), "--out needs a distribution"),
    ],
    ids=lambda value: "_".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused(refusal, collected, arguments, says):
    """No option is ignored in silence."""
    assert says in refusal("estimate", *words(collected), "--key", "id", *arguments)


@pytest.mark.slow
def test_services_of_other_kinds_and_options_of_attributes_are_refused(refusal, collected):
    save_table(PAY["pay"], "table.json")
    Path("plain.csv").write_text(f"id,report\np1,{PAY['pay'].low[0]}\np2,{PAY['pay'].low[0]}\n")
    mixed = refusal("estimate", *collected[0], "table.json", "plain.csv", "--key", "id")
    assert "services of attributes are estimated from together, got 'table.json' of another kind" in mixed
    assert "key (--key) must name the column" in refusal("estimate", *words(collected))
    plain = refusal("estimate", "table.json", "plain.csv", "--attribute", "pay")
    assert "--attribute is for several attributes" in plain
