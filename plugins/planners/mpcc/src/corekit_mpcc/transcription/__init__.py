"""From bodies, an object and contacts to a nonlinear program over a horizon."""
