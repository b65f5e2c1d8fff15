"""What every model promises, of the arm with and without inertial forces."""

from corekit_testing.conformance import conformance

test_arm_of_the_paper = conformance("models", "pcc")
test_arm_with_coriolis_forces = conformance(
    "models",
    "pcc",
    options={
        "sections": 2,
        "mass": [0.6, 0.3],
        "coriolis": True,
        "disk_inertia": 1e-3,
        "plate_thickness": 0.01,
    },
)
test_arm_on_a_moving_base = conformance(
    "models",
    "pcc",
    options={"sections": 2, "mass": [0.6, 0.3], "coriolis": True, "plate_thickness": 0.01},
    free_base=True,
)
test_arm_with_one_input = conformance(
    "models",
    "pcc",
    options={
        "sections": 1,
        "length": 0.15,
        "material": {"young": 2e5, "outer_radius": 0.02, "viscosity": 300.0},  # no chambers
        "cables": [{"name": "a", "radius": 0.01, "angle": -0.3, "drive": "length", "stiffness": 400.0}],
    },
)
