"""The verbs that inspect an installation: one a file, imported only when it is called."""
