"""What the commands do with tables of numbers: estimates, fits, floor forms, clipped values and noise."""
