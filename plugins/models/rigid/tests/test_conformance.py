"""What the kernel's conformance kit asks of any model, of a few different bodies."""

from corekit_testing.conformance import conformance

WEDGE = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.02, 0.12, 0.0], [0.03, 0.01, 0.2]]

test_ball = conformance("models", "rigid")
test_damped_wedge = conformance(
    "models",
    "rigid",
    {"shape": "polytope", "vertices": WEDGE, "linear_damping": 0.2, "angular_damping": 0.01},
)
test_top = conformance(
    "models",
    "rigid",
    {
        "shape": "disk",
        "size": [0.1, 0.02],
        "fixed_centre": True,
        "pivot": [0.01, 0.0, -0.08],
        "linear_damping": 0.2,
    },
)
test_ball_with_moments_that_differ_by_rounding = conformance(
    "models",
    "rigid",
    {"size": [0.05], "mass": 1.0, "inertia": [1e-3, 1e-3 * (1.0 - 2**-52), 1e-3, 0.0, 0.0, -4e-21]},
)
