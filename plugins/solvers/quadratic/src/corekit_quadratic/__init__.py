"""Solvers of strictly convex quadratic programs."""
