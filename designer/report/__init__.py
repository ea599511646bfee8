"""Reports as HTML pages that need no network: on bounds, on mechanisms of every kind, and an index of several.

`page` is the door to reports on bounds (`bounds_html`), `mechanism_page` to those on mechanisms (`mechanism_html`);
both begin with the first page of `front`. A new section is a part of a template with a file that makes its content.
"""
