"""Figures of estimates, and the look that all figures share; `optldp.designer.plots` has them with those of designs.

They ask of an estimate only what is said in their protocols, so that every room above draws itself by its `plot`: a new
figure is a file here, a `plot` of its result, and a line in `designer/plots/__init__.pyi`.
"""
