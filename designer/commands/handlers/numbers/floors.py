"""Tables in their floor form: drawn from, shown and proved as they are, estimated from as the table they expand to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .....estimators.intervals import CONFIDENCE
from .....mechanisms.compact_tables import FloorForm
from .....mechanisms.exactness.promises import log_ratio
from ..kind import Checked, Kind
from .handler import Numbers, Outputs, carries_notes, proof_facts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .....mechanisms.table.knot_prior import KnotPrior
    from ....planning.people import MeanWithin


@dataclass(frozen=True, eq=False)
class Floors(Outputs[FloorForm]):
    """Values are numbers of the domain, reports are outputs; whatever needs all rows has them made."""

    of: ClassVar[type] = FloorForm

    def for_estimates(self) -> Kind:
        """Return its table, which estimators ask for the likelihood of every output, unless it would be too large."""
        return Numbers(self.mechanism.expand()) if self.mechanism.expands else self

    def facts(self) -> dict[str, Any]:
        made, proof = self.mechanism, self.mechanism.proof()
        provenance = made.provenance
        return {
            "method": provenance.method,
            "form": made.kind,
            "promise": str(made.promise),
            "epsilon": made.epsilon,
            "knots": made.knots.size,
            "outputs": made.places.size,
            "domain": list(made.domain),
            "units": made.units,
            "prior": None if made.prior is None else made.prior.source,
            "expected_variance": None if made.prior is None else made.expected_variance(made.prior),
            "worst_case_variance": made.worst_case_variance()[0],
            "one_report_times_n": self.one_report_times_n(),
            "max_log_ratio": log_ratio(proof.largest, proof.smallest),
            "max_abs_bias": float(proof.bias),
            "parameters": dict(provenance.parameters),
            "certificate": None if provenance.certificate is None else dict(provenance.certificate),
            "version": provenance.version,
            "verdict": "proved" if proof.ok else "broken",
        }

    def units(self, attribute: str | None) -> str:
        return self.mechanism.units

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        return Numbers.means_within(self, people, priors, confidence=confidence)  # pyright: ignore[reportArgumentType] -- moments as of a table

    def shown(self) -> dict[str, Any]:
        return self.facts() | {"plot": None}  # what one report can do is among the facts

    def notes(self) -> list[str]:
        return carries_notes(self.mechanism.prior)

    def figure(self) -> Axes:
        return Numbers(self.mechanism.expand()).figure()

    def influence_times_n(self) -> float:
        return float(self.mechanism.outputs[-1] - self.mechanism.outputs[0])

    def checked(self, exact: bool) -> Checked:
        proof = self.mechanism.proof()
        facts = {
            "promise": str(proof.promise),
            "epsilon": proof.epsilon,
            "max_log_ratio": log_ratio(proof.largest, proof.smallest),
            "max_abs_bias": float(proof.bias),
        }
        return Checked("proved" if proof.ok else "broken", proof_facts(proof) if exact else facts, proof.failures)
