"""What commands say in the same words: errors, JSON, tables, notes of a prior, of trust and of bias; a glossary.

Files here know the layers below, and neither a command nor what one was asked.
"""
