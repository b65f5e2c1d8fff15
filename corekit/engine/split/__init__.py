"""Steps that take the smooth motion first and impulses after it, and that motion as a differential equation."""
