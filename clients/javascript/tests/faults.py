"""Tables that the client must refuse, beside those that the library's own tests damage, and one with strange names."""

from typing import Any

STRANGE = {
    "method": 'quote " and \\ and \n',
    "parameters": {"\uffee": 1, "\U0001f600": -0.0, "__proto__": [1, 2.5, None, True], "a": "", "aa": 10**18},
    "version": "\u00e9",
    "certificate": {"lower_bound": 1e-300, "": 12345678901234567890},
}
"""A provenance whose checksum comes out wrong where keys are sorted as UTF-16, or numbers or names are changed."""

TAILS = {"kind": "geometric-tails", "step": 1.0, "ratio": 0.5}
PRIOR = {"weights": [0.5, 0.5], "rounding": [1.0], "source": "public"}

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "one knot": ({"knots": [0.0], "numerators": [[2**52, 2**52]]}, "knots must be at least 2"),
    "too narrow a domain": ({"knots": [0.0, 1e-101]}, "knots must span 1e-100 to 1e100"),
    "too wide a domain": ({"knots": [0.0, 1e101]}, "knots must span 1e-100 to 1e100"),
    "no outputs": ({"low": [], "high": [], "numerators": [[], []]}, "at least 1, got 0 and 0"),
    "one high end too few": ({"high": [-5.0]}, "at least 1, got 2 and 1"),
    "an output upside down": ({"low": [-5.0, 16.0]}, "every output must have low <= high"),
    "a point at infinity": ({"low": ["-inf", 15.0], "high": ["-inf", 15.0]}, "every output must have low <= high"),
    "an end that is text": ({"low": [-5.0, "15"]}, "must be a number"),
    "knots of text": ({"knots": ["0", "1"]}, "must be a number"),
    "a cell beside tails": ({"within": TAILS, "low": ["-inf", 14.0], "high": [-5.0, 15.0]}, "only points"),
    "two tails in one": (
        {"within": TAILS, "low": ["-inf"], "high": ["inf"], "numerators": [[2**53], [2**53]]},
        "only points",
    ),
    "a point in the left tail": ({"within": TAILS, "low": ["-inf", -7.0], "high": [-5.0, -7.0]}, "must lie between"),
    "a point in the right tail": ({"within": TAILS, "low": [0.0, 15.0], "high": ["inf", 15.0]}, "must lie between"),
    "no step": ({"within": TAILS | {"step": 0}}, "within.step must be in"),
    "too large a step": ({"within": TAILS | {"step": 1e121}}, "within.step must be in"),
    "a ratio of one": ({"within": TAILS | {"ratio": 1}}, "within.ratio must be between 0 and 1"),
    "no ratio": ({"within": {"kind": "geometric-tails", "step": 1.0}}, "key 'ratio', which is missing"),
    "a uniform law with a step": ({"within": {"kind": "uniform", "step": 1.0}}, 'only, got "step"'),
    "a weight too few": ({"prior": PRIOR | {"weights": [1.0]}}, "prior must have 2 weights"),
    "a negative weight": ({"prior": PRIOR | {"weights": [1.5, -0.5]}}, "prior must have 2 weights"),
    "a prior that is a list": ({"prior": [0.5, 0.5]}, "prior must be an object"),
    "units that are a number": ({"units": 3}, "units must be text"),
    "no method": ({"provenance": STRANGE | {"method": None}}, "must be text"),
    "no parameters": ({"provenance": STRANGE | {"parameters": None}}, "provenance.parameters must be an object"),
    "an epsilon that is true": ({"epsilon": True}, "epsilon must be a number"),
}
"""Members of a good table in place of others, the checksum fitting, and what the refusal says."""

TEXTS = {
    "truncated": ('"checksum"', "", "whole JSON text"),
    "an empty file": (None, "", "whole JSON text"),
    "text after the end": (None, "{} {}", "whole JSON text"),
    "a comma too many": ("]]", "],]", "whole JSON text"),
    "NaN": ("1.1", "NaN", "whole JSON text"),
    "a key twice": ('"units"', '"units": "", "units"', 'got "units" twice'),
    "a number beyond doubles": ("1.1", "1e999", "fit in a double"),
    "half a surrogate pair": ('"units": ""', r'"units": "\ud800"', "must be Unicode"),
    "deep nesting": (None, "[" * 100_000, "nested deeper"),
    "a million escapes": ('"units": ""', '"units": "' + r"\n" * 10**6 + '"', "whole JSON text"),
    "an unknown escape": ('"units": ""', r'"units": "\x"', "whole JSON text"),
    "a control character": ('"units": ""', '"units": "\t"', "whole JSON text"),
    "version 1": ("optldp-table/2", "optldp-table/1", "format must be"),
}
"""Damage to the text of a good table: what is replaced (None: all of it) by what, and what the refusal says."""

STRICTER = ("a million escapes",)
"""What only the client refuses: its text would need more stack than a browser has."""
