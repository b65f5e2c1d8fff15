"""Every layout of the matrices gives the same motion; rows are eliminated alike in all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

H = 2e-3
STRUCTURES = ("diagonal", "block-diagonal", "banded", "dense")
COMMON: dict[str, Any] = {
    "masses": (1.0, 0.5, 0.8, 0.3),
    "positions": ((0.0, 0.0, 1.0), (0.4, 0.1, 0.6), (0.8, 0.0, 0.3), (1.2, -0.1, 0.12)),
    "velocities": ((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.5, 0.0), (0.2, 0.3, -1.0)),
    "shape": "sphere",
    "drag": 0.1,
}
CASES: dict[str, dict[str, Any]] = {
    "free": {},
    "springs": {"links": ("spring",) * 4, "stiffness": 500.0, "damping": 0.5},
    "rods": {"links": ("rod",) * 4},
    "welds": {"links": ("none", "weld", "none", "weld")},
    "mixed": {
        "links": ("rod", "spring", "weld", "brake"),
        "driven": (2,),
        "drive_amplitude": (0.05, 0.0, 0.02),
    },
    "driven": {
        "links": ("spring", "spring", "none", "spring"),
        "driven": (1,),
        "drive_amplitude": (0.1, 0.0, 0.0),
    },
}
INTEGRATORS = {
    "semi-implicit": lambda: SemiImplicitEuler(None, BuildContext(step=H)),
    "midpoint": lambda: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=H)),
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("case", CASES)
def test_matrix_structures_give_the_same_trajectory(case, integrator):
    ends = []
    for structure in STRUCTURES:
        model = PointChain(PointChainConfig(structure=structure, **COMMON, **CASES[case]))
        simulation = small_world(
            {"chain": model},
            INTEGRATORS[integrator](),
            step=H,
            solver=ProjectedGaussSeidel(),
            detector=ReferenceDetector(),
            obstacles=[floor()],
            friction=0.4,
        )
        touched = []
        simulation.observe(lambda sim, _report, seen=touched: seen.append(sim.contacts().count))
        simulation.run(0.12)
        assert max(touched) > 0
        ends.append(np.concatenate([simulation.state.q, simulation.state.v, simulation.system.reaction()]))
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-10
    if integrator == "semi-implicit" and case in {"free", "welds"}:
        assert np.abs(np.array(ends) - ends[0]).max() < 1e-12
