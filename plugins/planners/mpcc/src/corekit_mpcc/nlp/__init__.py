"""Nonlinear programs over a horizon: derivatives of one stage, compiled once, and the solvers by name."""
