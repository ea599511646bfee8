"""What users have spent, on disk: sealed records in SQLite, so that a repeated question gets the same report again.

`ledger` is the door; `book` holds tables and seals, `file` the database and its dangers. A new kind of mechanism can
be booked once `kinds` says how its values and reports are written down.
"""
