"""Structured matrices, rows of constraints, and factorisations with rows eliminated."""
