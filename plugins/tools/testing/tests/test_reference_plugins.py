"""The reference plugins keep every promise of their roles, with the options that reach all of their abilities."""

from corekit_testing.conformance import conformance

test_pendulum = conformance(
    "models",
    "reference-pendulum",
    {"lengths": [1.0, 0.7], "masses": [1.0, 2.0], "angles": [0.5, -0.3], "rates": [0.0, 0.0], "damping": 0.3},
)
CHAIN = {
    "masses": [1.0, 2.0, 1.5],
    "positions": [[0.5, 0.0, 0.1], [1.0, 0.2, 0.0], [1.2, 0.0, 0.6]],
    "links": ["spring", "rod", "tendon"],
    "damping": 2.0,
    "drag": 0.5,
    "winding": 1,
    "winding_stiffness": 3.0,
    "shape": "sphere",
}
test_chain_of_spring_rod_and_tendon = conformance("models", "reference-point-chain", CHAIN)
test_chain_of_winch_weld_and_brake = conformance(
    "models",
    "reference-point-chain",
    {
        **CHAIN,
        "links": ["winch", "weld", "brake"],
        "structure": "banded",
        "driven": [1],
        "drive_amplitude": [0.1, 0.0, 0.2],
        "drive_rate": [0.0, 0.3, 0.0],
    },
)
test_planar_chain = conformance(
    "models",
    "reference-point-chain",
    {
        "masses": [1.0, 2.0],
        "positions": [[0.5, 0.1], [1.0, 0.0]],
        "links": ["rod", "spring"],
        "planar": True,
        "structure": "dense",
    },
)
test_detector = conformance("contact_detectors", "reference-detector")
test_gauss_seidel = conformance("contact_solvers", "reference-gauss-seidel")
test_penalty = conformance("contact_solvers", "reference-penalty")
test_dissipating_linear_penalty = conformance(
    "contact_solvers",
    "reference-penalty",
    {"power": 1, "dissipation": 0.2},
    expected={"friction-opposes": "its friction counts the elastic part of the normal force alone"},
)
test_semi_implicit_euler = conformance("integrators", "reference-semi-implicit-euler")
test_implicit_euler = conformance("integrators", "reference-implicit-euler")
test_implicit_midpoint = conformance("integrators", "reference-implicit-euler", {"theta": 0.5})
test_velocity_verlet = conformance("integrators", "reference-velocity-verlet")
test_sdirk = conformance("integrators", "reference-sdirk")
