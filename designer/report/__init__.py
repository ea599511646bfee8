"""The bounds report: one HTML page that needs no network, with its figures, its sentences and its numbers.

`page` is the door, for users (`bounds_html`) and the command `bounds`. A new section is a part of the template with a
file that makes its content.
"""
