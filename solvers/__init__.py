"""Programs and their certificates: the numerical layer, which knows nothing of tables, files or privacy's vocabulary.

One program is at the heart, the *unbiased ratio program* (`unbiased.program`): rows that sum to one around their
knots, columns whose entries differ by a factor of at most E, least expected variance.  It is solved in two ways.

*With outputs free on the real line*, `solve_unbiased`.  A barrier over the output line (`barrier`) takes some dozens of
steps that cost O(n log n) each; for few knots, and where it is lost, a primal-dual interior point that eliminates all
but two unknowns per knot (`interior_point`, `dual_centring`, from `starting_point`) follows one path while the outputs
are refined under it (`unbiased.refinement`).  What comes out of either is a floor, cleaned up to at most 2n outputs
with rows in closed form (`sparse_support`, `window_rows`).  Exact pricing finds the minimum of the dual function over
all real outputs (`unbiased.pricing`), so `certified_bound` turns any multipliers into a lower bound for every mechanism
there is; it trusts no solver, ours included.

*With outputs given*, the same program goes to general solvers, `solve_with_highs` and `solve_with_cvxpy`
(`ratio_program`; `linear_program` is the one place that talks to HiGHS), and to our interior point,
`solve_on_outputs` (`fixed_outputs`).  They are each other's oracles.

Two relatives of the same program use the same pricing: `solve_minimax` minimises the largest variance, or a mixture of
it and the expected one, with the least favourable prior as its certificate, and `continuum_bound` turns the knots'
multipliers into a bound for every mechanism on the whole interval.  Between the two, `solve_robust` minimises the
largest expected variance over a set of priors, with the worst prior as its certificate.  A `PieceFloor` keeps the
windows of the optimum but gives their floor a few pieces only.

The second program is the *mixture likelihood*: weights of known components under which counted observations are
likeliest.  A `MixtureLikelihood` offers products with the matrix of probabilities and hides how that is stored: as two
halves of a full table (`DenseLikelihood`), as rows of the combinations seen (`TupleLikelihood`), as jumps between runs
(`RunLikelihood`), as packed bits (`BitLikelihood`), as one factor for each place of a report (`PlaceLikelihood`), or as
a sum of such (`SumLikelihood`).  `fit_mixture` maximises it by EM, by SQUAREM (`likelihood.em`) or by a primal-dual
interior point (`likelihood.newton`). Whatever the method, the gradient at the
weights returned bounds what any others could still gain (Lindsay's certificate).

The third is the *frequency program*: which sets of categories the reports of a frequency oracle support, and how often,
so that the trace of the inverse information matrix is least (`FrequencyProgram`). `solve_frequency` adds patterns as
they price out or exchanges them one by one, and `certified_frequency_bound` proves a bound over all 2^K of them, by
enumeration, by counts within classes of equal weights, or by a relaxation.

The fourth is the *information program*: the table whose reports tell most of the value, over interval patterns
(`best_tiling`, a cut into cells) or all (`solve_information`, priced by mass); `solve_interval_fisher` minimises the
trace of the inverse Fisher information over intervals.

The fifth is the *levels program* (`levels.program`): unbiased tables for several ratios on the same outputs, no two of
which may differ by more than a ratio at one knot. `solve_levels` of that room solves it on given outputs, by an
interior point that knows that outputs meet in the equations alone.

A result is an `Optimum` of `certificate`, with evidence that is recomputed from the numbers returned: a value, a bound
and the multipliers behind it, the relative gap, and a `Status` that says whether that is within the tolerance; on the
way solvers tell their `Progress`. (A likelihood has no natural zero, so that shares of it say nothing: a `MixtureFit`
says what is missing per observation.)  What cannot be solved is a SolverError, what makes no sense an
InputError.
"""

from ..mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
