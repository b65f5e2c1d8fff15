"""Vine robots: inflated tubes that grow at their tip, as planar chains of rigid bodies."""
