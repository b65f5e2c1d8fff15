"""What is installed of corekit, what it can do, and whether it works."""
