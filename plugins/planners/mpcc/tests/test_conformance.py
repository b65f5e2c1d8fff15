"""Conformance kit for the planner."""

from corekit_testing.conformance import conformance

TASK = {
    "object": "ball",
    "target": {"rotation": {"axis": [1.0, 0.0, 0.0], "angle": 1.0}},
    "contacts": [{"body": "arm", "frame": "tip"}],
    "friction": 0.6,
}

test_ipopt_mpcc = conformance("planners", "ipopt-mpcc", options=TASK)
