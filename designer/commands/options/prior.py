"""Where the prior of numbers comes from: the options of every command that needs one, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..output.prior import read_prior
from .shared import Clip, Column, Data, Domain, DropMissing, Options, PriorFile, Public

if TYPE_CHECKING:
    from ...priors.prior import Prior


@dataclass(frozen=True, kw_only=True)
class PriorOptions(Options):
    """A column of DATA, or a file of values and weights; a command says itself how it takes the knots."""

    data: Data = None
    column: Column = None
    domain: Domain = None
    clip: Clip = False
    prior_file: PriorFile = None
    public: Public = False
    drop_missing: DropMissing = False

    def prior_on(self, knots: int | None, units: str = "") -> tuple[Prior, list[str]]:
        """Read the prior, and what there is to say of it; on the default knots for None."""
        return read_prior(
            self.data, self.column, self.domain, self.prior_file, knots, self.public, self.leaves_out, units,
            clip=self.clip,
        )  # fmt: skip

    @property
    def leaves_out(self) -> bool:
        """Whether a prior is of the rows that have a value."""
        return self.drop_missing
