"""Mathematical programs with complementarity constraints: statement, relaxations, certificate and search."""
