"""Implicit contact: a contact potential with friction, and a detector for edges."""
