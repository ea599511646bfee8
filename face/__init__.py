"""Local differential privacy mechanisms, derived by optimisation, with certificates.

The names here are those of the tutorial, loaded on first use. Behind them are four layers, each a package of its own:
`optldp.mechanisms` (tables, their proofs, files and clients; numpy alone), `optldp.solvers` (programs and bounds),
`optldp.estimators` (from reports to statistics) and `optldp.designer` (priors, designs, comparisons, commands).

Example
-------
>>> import optldp
>>> prior = optldp.Prior.on_knots([0, 25, 50, 75, 100], [5, 3, 2, 1, 1], source="public")
>>> made = optldp.design(prior, 1.0)
>>> optldp.verify(made.mechanism).verdict
<Verdict.PROVED: 'proved'>
>>> "estimate_mean" in dir(optldp)
True
"""

from optldp.mechanisms.lazy_names import lazy_names

_load, _, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib import metadata  # takes as long to load as all else here

        return metadata.version("optldp")
    return _load(name)
