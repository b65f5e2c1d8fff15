"""The step equation: about what it is expanded, how it is factorised, reduced to impulses, and solved."""
