"""Tables whose reports answer linear numbers of a distribution with the shortest honest intervals, nothing assumed.

`length_program` says what is wanted and what a table is worth, `departures` how far numbers can move while reports
hardly change; `shortest_table` is the door to the best table, with `length_weights` inside, and `length_bound` proves
what no table does better.
"""
