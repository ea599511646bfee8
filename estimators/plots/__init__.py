"""Figures of estimates, and the look that all figures share; `optldp.designer.plots` has them with those of designs.

They ask of an estimate only what their protocols say, so every room above may come in and draw itself by its `plot`. A
new figure is a file here, a `plot` of its result, and a line in `designer/plots/__init__.pyi`.
"""
