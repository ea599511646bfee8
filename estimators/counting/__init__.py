"""From reports to counts: matched by user, counted out of core, added up, saved and loaded.

`ReportCounts` and `collect`, which the public `count` hands sources to, are the doors; nothing after them costs more
for more users. A new source of reports is a branch in `source`; what is counted of it is a file beside `codes`.
"""
