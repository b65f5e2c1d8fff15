"""Studies: several runs compared, and the papers' cases run against what they report."""
