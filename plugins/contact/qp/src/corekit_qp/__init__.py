"""Contact as a convex quadratic program."""
