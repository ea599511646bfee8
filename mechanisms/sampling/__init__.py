"""How a report is drawn within one output: points, uniform cells, exponential and linear densities, geometric tails.

Tables refer to a law by its name and know nothing of its inside; whoever writes, checks or samples a table comes in.
A new law is a file with a `WithinCell` and a line in `within_cell.LAWS`; its tests enumerate what its sampler draws.
"""
