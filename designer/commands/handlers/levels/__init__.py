"""Budgets that users choose, for each kind of mechanism that has levels.

`levels` reads, writes and counts reports beside the level that each was made at, as the kind of a level does; the other
files design levels of one kind, and say what its estimators find.
"""
