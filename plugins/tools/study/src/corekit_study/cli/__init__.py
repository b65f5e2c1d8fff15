"""The verbs of studies: one a file, imported only when it is called."""
