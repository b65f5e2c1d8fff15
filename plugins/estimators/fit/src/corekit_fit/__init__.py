"""Estimators: parameters and input schedules of a model from observed markers."""
