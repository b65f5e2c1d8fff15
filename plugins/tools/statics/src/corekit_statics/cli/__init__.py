"""The verb of statics, imported only when it is called."""
