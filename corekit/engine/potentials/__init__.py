"""Contact by a potential instead of impulses: its terms, its steps, and how long a step may be."""
