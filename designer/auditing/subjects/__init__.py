"""Who is audited: numbers, categories, levels, pairs and attributes, each with its inputs, its reports and its events.

The auditor above asks `registry` and knows none by name. A new kind of mechanism is a file with a `Kind` and a
line in `registry`.
"""
