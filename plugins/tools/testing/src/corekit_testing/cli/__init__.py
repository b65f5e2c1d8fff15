"""What `corekit new` and `corekit conform` do."""
