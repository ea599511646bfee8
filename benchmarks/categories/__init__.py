"""Categories: designed tables, and frequencies from reports."""
