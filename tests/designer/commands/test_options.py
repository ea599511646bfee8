"""Options that are declared once: what a command is asked, and under which names."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from optldp.designer.commands.handlers.options import METHODS, EstimateOptions
from optldp.designer.commands.options.perturb import PerturbOptions
from optldp.designer.commands.options.shared import Options, takes_options
from optldp.estimators.methods import BIAS_AWARE, DISTRIBUTION_METHODS, FREQUENCY_METHODS, MEAN_METHODS
from optldp.mechanisms import InputError
from typer.testing import CliRunner


@dataclass(frozen=True, kw_only=True)
class Greeting(Options):
    """What a greeting may be asked."""

    name: Annotated[str, typer.Argument()]
    times: Annotated[int, typer.Option("--times", "-t", help="How often.")] = 1
    loud_voice: Annotated[bool, typer.Option("--loud")] = False
    words: Annotated[list[str] | None, typer.Option("--word")] = None


@pytest.fixture
def greet():
    """The command line of a greeting, and what it was asked."""
    app, heard = typer.Typer(), []

    @app.command()
    @takes_options
    def greet(asked: Greeting) -> None:
        """Greet somebody."""
        heard.append(asked)

    return lambda *words: (CliRunner().invoke(app, list(words)), heard)


def test_a_command_is_asked_what_its_fields_declare(greet):
    """Arguments, options with short names, flags, and options that repeat."""
    done, heard = greet("Ada", "-t", "3", "--loud", "--word", "hello", "--word", "there")
    assert done.exit_code == 0, done.output
    assert heard == [Greeting(name="Ada", times=3, loud_voice=True, words=["hello", "there"])]


def test_help_and_refusals_are_those_of_the_fields(greet):
    """What is wrong with a value is said before the command runs."""
    assert "How often." in greet("--help")[0].stdout
    assert "Greet somebody." in greet("--help")[0].stdout
    done, heard = greet("Ada", "--times", "often")
    assert done.exit_code == 2
    assert "--times" in done.stderr
    assert not heard


def test_what_is_as_by_default_was_not_given():
    """Options go by the names that the command line gives them; arguments are none."""
    plain: dict[str, Any] = {"--times": None, "--loud": None, "--word": None}
    assert Greeting(name="Ada", words=[]).given() == plain
    assert Greeting(name="Ada", times=2, loud_voice=True).given() == plain | {"--times": 2, "--loud": True}


def test_the_first_useless_option_is_refused_by_name():
    """One line, and a name that is no option is a mistake of the code."""
    with pytest.raises(InputError, match=r"^--loud is for crowds: leave it out$"):
        Greeting(name="Ada", loud_voice=True).refuse("for crowds", "--times", "--loud")
    Greeting(name="Ada", times=2).refuse("for crowds", "--loud")
    with pytest.raises(KeyError):
        Greeting(name="Ada").refuse("for crowds", "--volume")


def test_kinds_refuse_what_they_have_no_use_for_and_ask_for_what_they_need(tmp_path):
    """`perturb` asks a kind which columns it takes."""
    made = {"table": tmp_path, "data": tmp_path, "out": tmp_path}
    with pytest.raises(InputError, match="--clip is of no use to this mechanism"):
        PerturbOptions(**made, clip=True, key="user", seed=1).only("--column")
    PerturbOptions(**made, columns=["x"], key="user", seed=1).only("--column")
    with pytest.raises(InputError, match="this mechanism needs --column, got none"):
        PerturbOptions(**made).needed("--column")
    assert PerturbOptions(**made, columns=["x"]).needed("--column") == "x"


def test_methods_are_those_of_the_estimators(optldp):
    """Each once, whatever it estimates, and no other is taken."""
    every = [*MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS, *FREQUENCY_METHODS]
    assert tuple(dict.fromkeys(every)) == METHODS
    refused = optldp("estimate", "mech.json", "reports.csv", "--method", "best")
    assert refused.exit_code == 2
    assert all(f" {method}" in " ".join(refused.stderr.replace("│", "").split()) for method in METHODS)


def test_the_method_by_default_is_the_first_that_a_kind_knows():
    """And what it does not know is refused with what it does."""
    assert EstimateOptions(files=[]).chosen("mle", "unbiased") == "mle"
    assert EstimateOptions(files=[], method_text="unbiased").chosen("mle", "unbiased") == "unbiased"
    with pytest.raises(InputError, match="--method must be one of mle, unbiased for these reports, got 'ua'"):
        EstimateOptions(files=[], method_text="ua").chosen("mle", "unbiased")
