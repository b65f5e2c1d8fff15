"""Time stepping schemes: one scheme a file."""
