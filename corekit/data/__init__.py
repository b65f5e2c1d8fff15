"""Data that flows between the kernel and its plugins."""
