"""What `design` and `show` have to show: the lines for each objective, and the pages of a mechanism."""
