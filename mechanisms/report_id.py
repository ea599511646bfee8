"""The id of a report: as many bytes whether drawn at random or made by a key, so that no reader tells which."""

ID_BYTES = 16
"""Of 2^40 reports no two have the same id but with a chance below 1e-14."""
