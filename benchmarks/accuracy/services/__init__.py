"""Several services at once: their mean, their distribution, and questions of it."""
