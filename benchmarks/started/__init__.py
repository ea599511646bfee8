"""Engines that are started for a while, and asked: each a file, whose context yields what asks it."""
