"""Tables and bundles on disk: written whole or not at all, read as if by an enemy's hand.

JSON, npz and zip are read within limits that are checked before memory is spent; `table` and `bundle` are
the doors that others use. A new format is a file that gives and takes documents, and a line in these two.
"""
