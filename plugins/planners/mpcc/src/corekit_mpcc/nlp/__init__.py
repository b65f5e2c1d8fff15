"""Nonlinear programs over a horizon: batched derivatives of one step, and solvers by name."""
