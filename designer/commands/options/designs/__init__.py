"""Options of `design`: objective, outputs, levels, mixing, features and periods."""
