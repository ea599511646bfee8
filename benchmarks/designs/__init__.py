"""Designs: how good, how fast, and beside what else; with the oracles of `shaped.py`."""
