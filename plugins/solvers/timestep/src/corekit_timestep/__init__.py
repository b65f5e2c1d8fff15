"""Time stepping schemes: one scheme per file."""
