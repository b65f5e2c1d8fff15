"""Conformance kit for a few different robots."""

from corekit_testing.conformance import conformance

SMALL = {
    "bodies": 6,
    "length": 0.3,
    "gas_density": 2.0,
    "natural_curvature": 1.5,
    "actuators": [[0, 1], [2, 2]],
}

test_robot = conformance("models", "vine", {**SMALL, "bending_damping": 1e-4})
test_telescope = conformance("models", "vine", {**SMALL, "bending_damping": 1e-4, "form": "telescope"})
test_matrices_that_couple_pins = conformance(
    "models",
    "vine",
    {
        **SMALL,
        "form": "telescope",
        "joint_stiffness": [[0.5], [0.1, 0.4], [-0.05, 0.2, 0.3]],
        "joint_damping": [[1e-4], [2e-5, 2e-4], [0.0, -3e-5, 1e-4]],
    },
)
EVERTING = {
    **SMALL, "form": "everting", "longest": 0.5, "stowed": 0.02, "bending_damping": 1e-4, "extensibility": 1e-5,
    "growth_force": 5.0, "irreversible": True,
}  # fmt: skip
test_everting_robot = conformance("models", "vine", EVERTING)
test_everting_robot_on_a_moving_base = conformance("models", "vine", EVERTING, free_base=True)
test_published_rows = conformance(
    "models",
    "vine",
    {
        "bodies": 8,
        "form": "telescope",
        "joint_stiffness": 0.5,
        "joint_damping": 3e-5,
        "body_mass": 1e-3,
        "body_inertia": 2e-4,
        "equations": "published",
    },
)
test_wrinkling_robot_grown_by_pressure = conformance(
    "models",
    "vine",
    {
        **SMALL,
        "moment_law": "wrinkling",
        "growth": "pressure",
        "extensibility": 1e-5,
        "yield_pressure": 10.0,
        "irreversible": True,
        "growth_force": 5.0,
        "heading": 0.4,
    },
)
test_robot_on_a_moving_base = conformance(
    "models", "vine", {**SMALL, "bending_damping": 1e-4, "heading": 0.3}, free_base=True
)
test_published_rows_on_a_moving_base = conformance(
    "models",
    "vine",
    {"bodies": 8, "joint_stiffness": 0.5, "body_inertia": 2e-4, "equations": "published"},
    free_base=True,
)
