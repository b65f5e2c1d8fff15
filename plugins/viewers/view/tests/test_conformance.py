"""Conformance kit for every viewer, with a small picture and a small video."""

from corekit_testing.conformance import conformance

test_matplotlib = conformance("viewers", "matplotlib", options={"panels": 1, "dpi": 40, "plots": False})
test_video = conformance("viewers", "video", options={"fps": 2, "width": 160, "height": 160, "azimuth": 0.5})
test_viser = conformance("viewers", "viser")
