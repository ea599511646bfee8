"""PLDP-FEBSF (Wu et al., 2024): what it compares, its own EMOA among it; for comparison only."""
