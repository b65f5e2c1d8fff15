"""Transcription of bodies, object and contacts into a nonlinear program over a horizon."""
