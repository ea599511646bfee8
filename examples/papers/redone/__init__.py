"""The five papers' figures and tables, redone: a room for each paper, and one for what their experiments share.

The scripts of the folder above are started, and take from here what they show; Python finds these rooms beside them.
A further paper gets a script there, a room here, and a page in docs/papers.
"""
