"""Verbs of this distribution."""
