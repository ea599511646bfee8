"""The command line, a file for each command: options, words, tables and files; what is computed is computed below.

Nothing imports this room but the command line itself, and no command asks which kind of mechanism it was given:
`handlers` knows. A new command is a file with a function that typer can read, and a line in `command_line`; an option
that two commands share stands in `options.shared`, and words that two say in `output`.
"""
