"""The step equation: what it is expanded about, assembled, and solved with contacts and constraints."""
