"""Real engines, each of which must count as the others do: a file for each of them, `of_` its name.

`data` makes the reports, `queries`, `kinds` and `frames` hold what is asked of any engine that can be asked for it, and
`checks` keeps what held. A further engine is a file with a function `check`, and a row of `ENGINES` in `__main__`.
"""
