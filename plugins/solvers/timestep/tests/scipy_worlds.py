"""Small worlds for the tests of SciPy's solvers."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.roles.component import BuildContext
from corekit_testing.pendulum import PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.small_world import small_world
from corekit_timestep.config import ScipyBdfConfig, ScipyRadauConfig, ScipyRk45Config
from corekit_timestep.scipy_integrator import ScipyIntegrator

G, M, K = 9.81, 2.0, 300.0
SOLVERS = {"bdf": ScipyBdfConfig, "radau": ScipyRadauConfig, "rk45": ScipyRk45Config}
ALL = pytest.mark.parametrize("solver", SOLVERS)
TWO_RODS = PendulumConfig(
    lengths=(0.8, 0.5), masses=(1.0, 0.6), angles=(1.0, 0.3), rates=(0.5, -1.0), damping=0.1
)
WEIGHTLESS = BuildContext(gravity=np.zeros(3))


def build(model, solver, h=0.01, world=None, **options):
    scheme = ScipyIntegrator(SOLVERS[solver](**options), BuildContext(step=h))
    return small_world({"body": model}, scheme, step=h, **(world or {}))


def oscillator(**options):
    """A mass on a spring along x, released at a stretch of 0.1 m, without gravity."""
    config = PointChainConfig(
        masses=(M,), positions=((1.1, 0.0, 0.0),), links=("spring",), lengths=(1.0,), stiffness=K, **options
    )
    return PointChain(config, WEIGHTLESS)


def count_evaluations(simulation):
    """Evaluations of the right side, step by step."""
    counts = []
    simulation.observe(lambda _simulation, report: counts.append(report.iterations))
    return counts
