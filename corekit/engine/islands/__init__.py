"""A contact problem of many contacts, divided into those that no body connects."""
