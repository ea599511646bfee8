"""What a mechanism is: tables, the families that become tables, sampling, verification, and the file format.

Everything here turns on one noun, `TabulatedMechanism`: input knots, outputs (points or cells) and the
probability of each output at each knot. A value between knots is rounded at random to a neighbour, so what
holds at the knots, privacy and unbiasedness above all, holds on the whole domain.

- Families (`FAMILIES`: Laplace, Duchi, piecewise, ...) become tables by exact integration, not by sampling or
  quadrature. Where a density varies inside a cell, the table's law within the cell draws from it exactly.
- `verify` never asks how a table was made. It recomputes row sums, the largest log-ratio, bias and variances
  from the numbers, and allows the ratio no tolerance at all: families are built a hair below their budget. Its verdict
  is "proved" for exact tables alone.
- `make_exact` rounds probabilities to whole numbers over 2^53, giving up utility and never privacy; `prove` then shows
  privacy by integer arithmetic alone, and reports are drawn by integers from the operating system's generator.
- Categories have mechanisms of their own (`CategoricalMechanism`): tables, and structures whose table would be too
  large to write down, unary encodings and local hashing. What is one document without being one table is a `Bundle`.
- `save_table` and `save_bundle` write only what is proved, whole or not at all; `load_mechanism` trusts nothing that
  it reads. Tables in doubles are for research, behind an argument that says so.

This folder needs numpy alone: a client that only perturbs its data needs no solver.
"""

from .budget import MAX_EPSILON, MIN_EPSILON, check_epsilon, inner_epsilon
from .categorical.categories import Categories
from .categorical.local_hashing import LocalHashing, local_hashing
from .categorical.mechanism import CategoricalMechanism, PureProtocol
from .categorical.oracle_choice import frequency_oracle
from .categorical.table import CategoricalTable, categorical_grr
from .categorical.unary_encoding import UnaryEncoding, basic_rappor, optimised_unary
from .client.sampler import Sampler
from .composed.attributes import AttributeSampling, attribute_budget
from .composed.personalised import PersonalisedMechanism, PersonalisedReports
from .documents.bundle import Bundle
from .documents.exact_mechanism import ExactMechanism
from .errors import BudgetError, InputError, OptldpError, SolverError, TableError
from .exactness.make_exact import ExactRounding, exact_if_possible, make_exact
from .exactness.point_outputs import to_points
from .exactness.proof import ExactProof, prove
from .exactness.verification import Verdict, Verification, require_private, require_proved, verify
from .families.duchi import duchi, duchi_variance
from .families.grr import grr, grr_variance
from .families.hybrid import hybrid, hybrid_variance
from .families.laplace import laplace, laplace_variance
from .families.piecewise import piecewise, piecewise_variance, pm_sub, pm_sub_variance
from .families.ptt import optimal_eta, ptt, ptt_variance
from .families.ptt2 import ptt2, ptt2_variance
from .families.registry import FAMILIES
from .families.square_wave import square_wave, square_wave_variance
from .families.three_outputs import three_outputs, three_outputs_variance
from .files.atomic_write import replacing
from .files.bundle_file import load_mechanism, read_unverified_mechanism, save_bundle
from .files.table_file import load_table, read_unverified_table, save_table
from .integers.exponential import exponential_below
from .key_value.choice import best_key_value, key_mean_variance
from .key_value.mechanism import KeyValueMechanism
from .key_value.response import KeyValueResponse, key_value_response
from .key_value.unary import KeyValueUnary, key_value_unary
from .laws.domain import ClippingWarning
from .laws.within_cell import ExponentialDensity, GeometricTails, LinearDensity, Uniform, WithinCell
from .ledger.ledger import Ledger
from .ledger.seals import new_ledger_key
from .table.knot_prior import KnotPrior
from .table.knots import check_knots
from .table.provenance import Provenance
from .table.table import TabulatedMechanism

__all__ = [
    "FAMILIES",
    "MAX_EPSILON",
    "MIN_EPSILON",
    "AttributeSampling",
    "BudgetError",
    "Bundle",
    "CategoricalMechanism",
    "CategoricalTable",
    "Categories",
    "ClippingWarning",
    "ExactMechanism",
    "ExactProof",
    "ExactRounding",
    "ExponentialDensity",
    "GeometricTails",
    "InputError",
    "KeyValueMechanism",
    "KeyValueResponse",
    "KeyValueUnary",
    "KnotPrior",
    "Ledger",
    "LinearDensity",
    "LocalHashing",
    "OptldpError",
    "PersonalisedMechanism",
    "PersonalisedReports",
    "Provenance",
    "PureProtocol",
    "Sampler",
    "SolverError",
    "TableError",
    "TabulatedMechanism",
    "UnaryEncoding",
    "Uniform",
    "Verdict",
    "Verification",
    "WithinCell",
    "attribute_budget",
    "basic_rappor",
    "best_key_value",
    "categorical_grr",
    "check_epsilon",
    "check_knots",
    "duchi",
    "duchi_variance",
    "exact_if_possible",
    "exponential_below",
    "frequency_oracle",
    "grr",
    "grr_variance",
    "hybrid",
    "hybrid_variance",
    "inner_epsilon",
    "key_mean_variance",
    "key_value_response",
    "key_value_unary",
    "laplace",
    "laplace_variance",
    "load_mechanism",
    "load_table",
    "local_hashing",
    "make_exact",
    "new_ledger_key",
    "optimal_eta",
    "optimised_unary",
    "piecewise",
    "piecewise_variance",
    "pm_sub",
    "pm_sub_variance",
    "prove",
    "ptt",
    "ptt2",
    "ptt2_variance",
    "ptt_variance",
    "read_unverified_mechanism",
    "read_unverified_table",
    "replacing",
    "require_private",
    "require_proved",
    "save_bundle",
    "save_table",
    "square_wave",
    "square_wave_variance",
    "three_outputs",
    "three_outputs_variance",
    "to_points",
    "verify",
]
