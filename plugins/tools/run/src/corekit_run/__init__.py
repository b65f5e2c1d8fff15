"""Runs of scenarios: into a folder, with checkpoints, to the same end after an interruption."""
