"""Derivatives of accepted steps and of runs, from the records of a tape."""
