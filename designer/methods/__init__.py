"""Other ways to a mechanism than an objective's own optimum: closed forms, AAA's lattice, a floor of few pieces.

What they build is judged by the objective beside its certified optimum, in `designs`. A new method is a file with a
frozen dataclass of `Method`; if it is to be known by a name, a line in `registry`.
"""
