"""From a scenario file to composed objects: schema, loading with all mistakes at once, composition."""
