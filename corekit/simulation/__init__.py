"""Stepping a simulation: the loop, its controllers, and what a failed step says."""
