""" "Privacy for Free" (Du et al., 2025): means and distributions from the reports of several services."""
