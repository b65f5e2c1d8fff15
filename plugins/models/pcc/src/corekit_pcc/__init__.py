"""Piecewise-constant-curvature arms: a chain of sections that bend into arcs and stretch."""
