"""From a state to contacts and their rows, and from impulses to what users read."""
