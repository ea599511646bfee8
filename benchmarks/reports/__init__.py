"""From values to statistics of numbers: how fast reports are drawn, counted and estimated from."""
