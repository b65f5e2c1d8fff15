"""Frictional contact as a conditioned linear complementarity problem."""
