"""What plugins there are: light specs, discovery without imports, resolution by name."""
