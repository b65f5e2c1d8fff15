"""Planar arms of rigid links on torsion springs; imports nothing, so that listing it stays light."""
