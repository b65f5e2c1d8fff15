"""Mesh files and robot descriptions in scenarios."""
