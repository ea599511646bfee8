"""What stands in a file: a table or a bundle as a document of plain values, and back, with every claim checked.

The room knows members and texts, not files, and whoever writes or reads comes in. A new kind of mechanism in one
document is a `Bundle`, whose contract is in `bundle`.
"""
