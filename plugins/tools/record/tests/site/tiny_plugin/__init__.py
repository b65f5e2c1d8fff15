"""Tiny components for tests of running and recording."""
