"""Sections by their outlines."""
