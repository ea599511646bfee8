"""Whole numbers over 2^53: numerators of probabilities, e^epsilon bounded from below, rounding, a finite field.

Whatever privacy is proved from or reports are drawn from is computed here, without a floating-point rounding, so
everything above may come in. New arithmetic that a proof needs is one more file, which knows no table.
"""
