"""The engine: one step of the world, from a state to the next. `world` is what the loop sees, `step` the equation."""
