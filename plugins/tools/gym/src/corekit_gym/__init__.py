"""Scenarios as environments of Gymnasium."""
