"""Contacts of convex shapes by Minkowski portal refinement, with the refinement that makes its depth exact."""
