"""Nonlinear programs over a horizon: derivatives of one step, evaluated for all at once, and the solvers by name."""
