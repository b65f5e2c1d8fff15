"""Hooks: what an installed distribution may add beside components, verbs and observers of runs."""
