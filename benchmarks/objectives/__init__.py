"""What a design is for, each objective beside its rivals: errors, gaps and seconds, printed for a page to quote."""
