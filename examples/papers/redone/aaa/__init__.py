"""AAA (Wei et al., 2024): the optimal noise, its variance, and the errors of means in two phases."""
