"""Frames and shapes."""
