"""The verb: from a prior, a budget and an objective to a mechanism, judged against the certified optimum."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.promise import Promise
from ..levels import Levels
from ..methods.base import Method
from ..methods.oracles import as_oracle
from ..methods.registry import OPTIMAL, as_method
from ..objectives.at_most import AtMost
from ..objectives.base import Objective
from ..objectives.error import Error
from ..objectives.variance import Variance
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior
from .judging import design_table
from .knots import KnotChoice, design_on_enough_knots
from .levels import design_levels
from .result import Design
from .several_attributes import Attributes, design_attributes


def design(
    prior: Prior | CategoricalPrior | KnotChoice | Attributes | Mapping[str, Prior],
    privacy: Promise | Levels | float,
    *,
    objective: Objective | None = None,
    method: str | Method = OPTIMAL,
    outputs: ArrayLike | AtMost | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    exact: bool = True,
    form: Literal["table", "floor"] = "table",
    general: bool = False,
    progress: Callable[[Any], None] | None = None,
) -> Design:
    """Build a mechanism and certify how good it is.

    Parameters
    ----------
    prior : Prior, CategoricalPrior, KnotChoice, Attributes, or mapping of str to Prior
        The values' prior: `Prior` of numbers, `CategoricalPrior` of categories, `KnotChoice` of numbers on as many
        knots as the continuum needs, `Attributes` of several attributes of one user. **A prior taken from sensitive
        data makes the mechanism a function of that data.**
    privacy : Promise, Levels or float
        A number is the budget epsilon of `Pure`; `Metric` and the other promises of pairs of knots
        (`optldp.mechanisms.promise`) are for `Variance`, `WorstCase`, `TradeOff`, `Loss`, `Custom`,
        `Workload` and `Quantile`. `Levels`:
        budgets that users choose from; their tables have common outputs, and a report reveals little about the level.
    objective : Objective, optional
        The objective: `Variance` (default for numbers), `WorstCase`, `TradeOff`, `Guarantee`, `Error`, `Information`,
        `Loss`, `Custom`; `Frequencies` (default), `Loss` or `Custom` for categories.
    method : str or Method
        "optimal": the objective's own. One of `METHODS`, or `Lattice(...)`, `Pieces(...)`, is judged against it. For
        categories "auto", "grr", "olh", "oue" or "rappor".
    outputs : (m,) array_like, int or AtMost, optional
        The only possible reports, increasing, or for categories their number. `Custom` and `Loss` need them (except for
        unbiased squared loss); `Variance`, `WorstCase`, `TradeOff` and `Levels` take them. `AtMost(16)` of
        `optldp.designer.objectives` allows that many outputs and places them best, for all of these but `Custom`.
    uniform_share : float, optional
        Uniform share mixed into the prior before solving, in [0, 1]: without it some programs ignore knots of no mass.
        Default: 0.001 for `Variance`, `Error` and `Information`, else 0. `expected_variance` is under the prior as
        given.
    tolerance : float, optional
        Relative gap of the certificate to reach. Default: 1e-6; 1e-4 for levels and `Error`; 1e-3 for
        categories.
    exact : bool
        Whether to make the table exact (see `make_exact`), which costs less than a millionth of the variance; only
        exact tables are for clients. Laplace's and ptt2's cells become points.
    form : {"table", "floor"}
        Form of the mechanism for one prior of numbers. A `FloorForm` of least expected variance on hundreds of knots
        needs no table, and its memory grows with the knots alone.
    general : bool
        Whether to use the general solver only, as a check of the fast solvers for special problems.
    progress : callable, optional
        Called after each solver step with the solver's progress; for attributes with an `AttributeStep`.

    Returns
    -------
    made : Design
        The `mechanism`, the `value` of the objective, the `bound` that no mechanism beats, and the relative `gap`
        between the two.

    Raises
    ------
    InputError
        Arguments that are not usable or do not go together.
    TableError
        A floor form is wanted where there is none.
    SolverError
        No solution was found.

    Source: the theory of the optimum: solvers/unbiased/unbiased_program.py.

    Example
    -------
    >>> from optldp import Prior, design
    >>> from optldp.designer import WorstCase
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> best, safest = design(prior, 1.0), design(prior, 1.0, objective=WorstCase())
    >>> round(best.value, 3), round(best.bound, 3), best.gap < 1e-6
    (3.665, 3.665, True)
    >>> [round(made.expected_variance, 2) for made in (best, safest)]
    [3.66, 3.98]
    >>> [round(made.worst_case_variance, 1) for made in (best, safest)]
    [4.5, 4.0]
    """
    started = time.perf_counter()
    if form not in ("table", "floor") or (
        form == "floor" and (isinstance(privacy, Levels) or not isinstance(prior, Prior))
    ):
        raise InputError(f"form must be table, or floor for one prior of numbers and one budget, got {form!r}")
    options = {"uniform_share": uniform_share, "tolerance": tolerance, "exact": exact, "progress": progress}
    if general and not isinstance(prior, Prior | CategoricalPrior):
        raise InputError("the general solver is for one prior, got several or a number of knots: leave general out")
    if isinstance(privacy, Levels):
        if general:
            raise InputError("levels have one solver, got general=True: leave it out")
        if isinstance(outputs, AtMost):
            raise InputError("AtMost is for one budget, got levels: give the outputs themselves, or none")
        if not isinstance(prior, Prior) or not isinstance(objective, Variance | None) or as_method(method) or not exact:
            raise InputError(
                "levels are exact tables of numbers of least expected variance, got a prior of something else, or "
                "another objective, method or form: see PersonalisedMechanism for levels of other mechanisms"
            )
        tuned = {"uniform_share": uniform_share, "tolerance": tolerance, "progress": progress}
        made = design_levels(prior, privacy, outputs=outputs, **tuned)
    elif isinstance(prior, Prior | CategoricalPrior):
        named = as_oracle(method) if isinstance(prior, CategoricalPrior) else as_method(method)
        more = {"outputs": outputs, "as_floor": form == "floor", "general": general}
        made = design_table(prior, privacy, objective, named, **more, **options)
    elif not isinstance(prior, KnotChoice | Attributes | Mapping):
        raise InputError(
            "what is designed for must be a Prior, a CategoricalPrior, Attributes by name, or a KnotChoice, got "
            f"{type(prior).__name__}: make a prior of values first, and name each of several"
        )
    else:
        error = objective if isinstance(objective, Error) and not isinstance(prior, KnotChoice) else None
        if not isinstance(objective, Variance | None) and error is None:
            asked = getattr(objective, "label", repr(objective))
            who = "a number of knots is chosen for" if isinstance(prior, KnotChoice) else "attributes are designed for"
            what = "the least expected variance" if isinstance(prior, KnotChoice) else "the least variance or error"
            raise InputError(f"{who} {what} alone, got {asked}: use one Prior, or no objective")
        if outputs is not None:
            raise InputError("outputs are for Custom, which takes one Prior: leave them out")
        if isinstance(prior, KnotChoice):
            if as_method(method) is not None:
                raise InputError(f"a number of knots is chosen for the optimum alone, got method {method!r}")
            made = design_on_enough_knots(prior, privacy, **options)
        else:
            several = prior if isinstance(prior, Attributes) else Attributes(prior)
            made = design_attributes(several, privacy, as_method(method), error=error, **options)
    return replace(made, seconds=time.perf_counter() - started)
