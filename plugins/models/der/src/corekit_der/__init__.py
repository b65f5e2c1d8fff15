"""Discrete elastic rods: any graph of slender rods that stretch, bend and twist."""
