"""The case of one beam in four theories."""
