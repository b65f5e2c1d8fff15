"""Conformance of the integrators, in both forms."""

from corekit_testing.conformance import conformance

test_linearly_implicit = conformance("integrators", "semi-implicit-euler")
test_explicit = conformance("integrators", "semi-implicit-euler", options={"form": "explicit"})
test_implicit_euler = conformance("integrators", "implicit-euler")
test_implicit_midpoint = conformance("integrators", "implicit-midpoint")
test_adaptive_midpoint = conformance("integrators", "implicit-midpoint", options={"local_error": 1e-4})
test_newmark = conformance("integrators", "newmark")
test_generalized_alpha = conformance("integrators", "generalized-alpha")
test_verlet = conformance("integrators", "verlet")
test_position_verlet = conformance("integrators", "verlet", options={"form": "position"})
test_scipy_bdf = conformance("integrators", "scipy-bdf")
test_scipy_radau = conformance("integrators", "scipy-radau")
test_scipy_rk45 = conformance("integrators", "scipy-rk45")
