"""Mechanisms made of others: one for each level of privacy that users choose, and one for each of several attributes.

They hold tables or categorical mechanisms, spend one budget, and are written as one document; files, estimators and
designs come in. A new composition is a `Bundle` here that says what its parts cost together.
"""
