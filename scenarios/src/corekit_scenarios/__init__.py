"""Scenario files, one folder a paper."""
