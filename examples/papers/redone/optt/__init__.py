"""OPTT (Ma, Zhu and Wang): its constants, and where piecewise transformation beats what."""
