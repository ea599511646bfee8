"""How answers show themselves: one line, a cell of a notebook, a data frame, axes; and whether two say the same.

`Shown` is the base of all that a user is handed. A class says once what it is about, as a `Told` of facts, columns and
a picture; everything else follows from that. Nothing here knows the classes; matplotlib and data frames are loaded by
those who ask for them. A new picture is a class in `summary`, drawn in `svg` and in `axes`.
"""
