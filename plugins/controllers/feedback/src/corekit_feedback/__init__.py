"""Controllers and sensors."""
