"""Bodies and obstacles stacked into one world, and the step equation built from them."""
