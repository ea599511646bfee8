"""What `design`, `show` and `evaluate` have to show: lines for each objective, pages of a mechanism, and its costs."""
