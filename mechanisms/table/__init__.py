"""The noun that everything produces or consumes: `TabulatedMechanism`, with its knots, outputs, moments and origin.

Families and designs make tables, everybody above may read them, and nothing here knows how one is proved or written
down. What every table must hold is checked once, in `checks`; a new thing that a table is made of is one more file.
"""
