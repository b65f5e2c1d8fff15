"""What every viewer promises; the picture is a small one."""

from corekit.testing.conformance import conformance

test_matplotlib = conformance("viewers", "matplotlib", options={"panels": 1, "dpi": 40, "plots": False})
test_viser = conformance("viewers", "viser")
