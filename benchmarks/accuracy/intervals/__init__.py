"""Intervals of distributions: how often they hold the truth, and how long they are."""
