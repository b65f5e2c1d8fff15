"""Statics: equilibria of a world, their stability, and the forces that hold them."""
