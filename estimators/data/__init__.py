"""Columns of files: numbers, texts and keyed reports out of CSV, Parquet and frames, with clear words for bad rows.

It knows files and rows, not mechanisms, and every room of estimators and commands may come in. A new file format is a
branch in `files`; a new kind of cell is a file that says what is none and why.
"""
