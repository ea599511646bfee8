"""Rounds with clients: some report first, a prior is learnt, the others are asked through its design.

`two_phase` is the door, `cohort` stands for the clients. A new protocol is a file that says what each round asks and
what it costs.
"""
