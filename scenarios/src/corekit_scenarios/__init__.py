"""Scenario files, one folder a paper, and some to learn from."""
