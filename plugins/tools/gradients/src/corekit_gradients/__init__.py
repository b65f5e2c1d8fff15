"""Gradients of runs: a loss, differentiated by what it depends on, through impacts and friction."""
