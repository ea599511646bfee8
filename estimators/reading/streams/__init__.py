"""Columns of any length in constant memory: values by blocks of rows, outputs by parts that a run can go on from.

`value_blocks` checks a column whole before the first block is handed out, so that bad input is refused before anything
is drawn; `output_parts` keeps what is written and joins it at the end; `csv_windows` cuts a stream that may never end.
What is drawn of the values, or counted of the reports, is the business of whoever asks for them.
"""
