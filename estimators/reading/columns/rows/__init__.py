"""Rows of files: read, counted, left out and written."""
