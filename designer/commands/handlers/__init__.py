"""What commands do with each kind of mechanism: numbers, categories, levels, pairs and attributes, a file for each.

Commands ask `registry` which kind a mechanism is and nobody else; files here know the layers below and the words that
commands speak in, and no command. A new kind is a file with a `Kind` and a line in `registry`.
"""
