"""Conformance kit for every estimator."""

from corekit_testing.conformance import conformance

MARKERS = {"file": "markers.csv", "deviation": 5e-4}

test_ipopt_fit = conformance(
    "estimators",
    "ipopt-fit",
    {
        "markers": MARKERS,
        "parameters": [{"name": "stiffness", "low": 0.1}],
        "contacts": [{"obstacle": "wall"}],
        "unmodelled": [{"unit": "m/s", "force": 0.1}],
    },
)
test_curvature_descent = conformance("estimators", "curvature-descent", {"markers": MARKERS})
test_gauss_newton = conformance("estimators", "gauss-newton", {"markers": MARKERS})
test_simulation_fit = conformance(
    "estimators",
    "simulation-fit",
    {
        "experiments": [{"markers": MARKERS, "set": ["time.step=0.01"]}],
        "parameters": [{"name": "stiffness", "low": 0.1}],
    },
)
test_adjoint = conformance(
    "estimators",
    "adjoint",
    {
        "experiments": [{"markers": MARKERS, "set": ["time.step=0.01"]}],
        "parameters": [{"name": "world.friction[0].value", "low": 0.1, "high": 1.0}],
        "starts": 2,
    },
)
