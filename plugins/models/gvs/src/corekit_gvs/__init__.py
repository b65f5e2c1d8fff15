"""Geometric variable strain: trees and loops of soft and rigid links whose strains are the coordinates."""
