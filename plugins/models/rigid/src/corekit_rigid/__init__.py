"""Rigid bodies: free, or turning about a fixed point."""
