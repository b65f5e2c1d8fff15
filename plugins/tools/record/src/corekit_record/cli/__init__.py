"""The verbs and reports of what was recorded: one a file, imported only when it is called."""
