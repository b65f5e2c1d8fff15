"""Cases of DisMech: discrete elastic rods."""
