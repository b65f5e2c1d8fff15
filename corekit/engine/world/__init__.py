"""The world as the loop and integrators see it, and what every form of its step is made of."""
