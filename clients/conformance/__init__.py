"""Vectors that decide whether a client is right, and the driver that runs a client on them."""
