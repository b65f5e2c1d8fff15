"""Motions through contact as mathematical programs with complementarity constraints."""
