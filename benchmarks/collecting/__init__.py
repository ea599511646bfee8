"""Ways of collecting and of counting, each beside others: over time, by days, in engines, and what reports reveal."""
