"""Contacts of convex shapes by Minkowski portal refinement, with a search that makes its depth exact."""
