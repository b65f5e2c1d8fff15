"""What the kernel's conformance kit asks of any model, of five mechanisms."""

from corekit_testing.conformance import conformance

test_acrobot = conformance(
    "models",
    "lagrangian",
    {
        "equations": "mechanisms:acrobot",
        "parameters": {"lengths": [0.3, 0.4], "masses": [0.2, 0.1], "damping": 0.01},
    },
)
test_cart_by_sympy = conformance(
    "models",
    "lagrangian",
    {
        "equations": "mechanisms:cart_by_sympy",
        "parameters": {"cart": 0.5, "mass": 0.2, "length": 0.3, "stiffness": 20.0},
    },
)
test_gimbal = conformance(
    "models",
    "lagrangian",
    {
        "equations": "mechanisms:gimbal",
        "parameters": {"mass": 0.4, "inertia": [0.01, 0.02, 0.015], "centre": [0.02, 0.0, -0.08]},
    },
)
test_arm_of_three_links = conformance(
    "models",
    "lagrangian",
    {
        "equations": "mechanisms:pendulum",
        "parameters": {"lengths": [0.3, 0.2, 0.1], "masses": [0.2, 0.1, 0.05], "damping": 0.01},
    },
)
ARM = {"lengths": [0.3, 0.2], "masses": [0.2, 0.1], "foot": 0.3, "damping": 0.01, "stiffness": 2.0}
test_arm_on_a_moving_base = conformance(
    "models", "lagrangian", {"equations": "mechanisms:arm", "parameters": ARM}, free_base=True
)
