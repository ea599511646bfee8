"""EM with mixture reduction (Ye et al., 2025): frequencies, key-value data, and noise that the paper only describes."""
