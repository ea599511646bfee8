"""Reading reports and values: columns of files and frames, the formats that they come in, and columns of any length.

`columns` finds the cells of CSV, Parquet and frames, `formats` knows encodings, separators, compression and the marks
of numbers and dates, `streams` reads in constant memory. Commands and counts come in; nobody here knows mechanisms.
"""
