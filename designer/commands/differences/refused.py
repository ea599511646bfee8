"""Which options go with differences, groups and weights: those of unbiased means and frequencies."""

from __future__ import annotations

from ....mechanisms.errors import InputError
from ..handlers.options import EstimateOptions

SHARED = frozenset({
    "--column", "--drop-missing", "--skip-invalid", "--allow-unproved", "--json", "--confidence", "--out", "--force",
    "--versus", "--by", "--weights", "--simultaneous", "--top", "--method", "--target",
})  # fmt: skip


def require_fitting(asked: EstimateOptions, option: str, *also: str, quantiles: bool = False) -> None:
    """Raise InputError for an option that does not go with the one that was asked for.

    Parameters
    ----------
    asked : EstimateOptions
    option : str
        That everything else must go with.
    *also : str
        What goes with it beside the options that all of them share.
    quantiles : bool
        Whether `--of quantiles` does.
    """
    if len(asked.files) != 2:
        raise InputError(f"{option} is for the reports of one table, got {len(asked.files)} files: TABLE REPORTS")
    if asked.method not in (None, "unbiased"):
        raise InputError(f"{option} is for unbiased estimates, got --method {asked.method}: leave it out")
    of = ("mean", "quantiles") if quantiles else ("mean",)
    for name, value in asked.given().items():
        if value is not None and name not in SHARED and name not in also and not (name == "--of" and asked.of in of):
            raise InputError(f"{name} does not go with {option}, which is for unbiased estimates: leave it out")
