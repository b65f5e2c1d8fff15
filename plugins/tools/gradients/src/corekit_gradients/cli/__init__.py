"""The verb of this distribution."""
