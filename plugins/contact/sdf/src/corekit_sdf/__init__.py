"""Closed-form signed distances between simple shapes, with patches where a flat meets a flat."""
