"""Contact with Coulomb's second-order cone."""
