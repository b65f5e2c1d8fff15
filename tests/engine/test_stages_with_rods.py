"""A two-stage scheme of order two with a rigid rod: of order one in θ stages, of order two in the smooth dynamics.

    q_i = Q_i + γ·h·v_i,   M·v_i = M·V_i + γ·h·f_i,   γ = 1 − √½                              (1)

with Q₁ = q₀, V₁ = v₀, and Q₂, V₂ a further (1 − γ)·h along the first stage's v₁ and acceleration.

Source: Alexander (1977), Diagonally implicit Runge–Kutta methods for stiff ODEs, SIAM J. Numer. Anal. 14.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from corekit.data.status import SolveInfo, StepReport
from corekit.roles.integrator import Integrator, next_step
from corekit.roles.stage_solver import StageSettings, StageSolver
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.small_world import small_world

GAMMA, ANGLE = 1.0 - math.sqrt(0.5), 1.0


class Stages(Integrator):
    """Two stages (1)."""

    def __init__(self, step):
        self.size = step

    @abstractmethod
    def stage(self, system, start, size, out):
        """Solve (1) with Q, V of `start`."""

    def step(self, system, state, t_stop, out):
        h, t_end = next_step(self.size, state.time, t_stop)
        system.split.begin_step(state, h)
        first, middle = system.new_state(), system.new_state()
        self.stage(system, state, GAMMA * h, first)
        system.integrate(state, first.v, (1.0 - GAMMA) * h, state, middle)
        middle.v[:] = state.v + (1.0 - GAMMA) / GAMMA * (first.v - state.v)
        middle.time = state.time + (1.0 - GAMMA) * h
        self.stage(system, middle, GAMMA * h, out)
        out.time = t_end
        return StepReport(True, h, 2, SolveInfo(answered_by="stages"))


class ThetaStages(Stages):
    """The kernel solves the stage with the rod's length at its end."""

    def stage(self, system, start, size, out):
        solver = StageSolver(system, 1.0, StageSettings(tolerance=1e-12))
        system.theta.begin_step(start, size)
        solver.velocity[:] = start.v
        assert solver.solve().converged
        system.integrate(start, solver.velocity, size, start, out)
        out.v[:] = solver.velocity


class SmoothStages(Stages):
    """Fixed-point iteration with the accelerations of the smooth dynamics, in which the rod is differentiated."""

    def stage(self, system, start, size, out):
        found = np.zeros(system.nv)
        for _ in range(60):
            acceleration = found.copy()
            out.v[:] = start.v + size * acceleration
            system.integrate(start, out.v.copy(), size, start, out)
            out.time = start.time + size
            assert system.smooth.compute_acceleration(out, found)
            if np.abs(found - acceleration).max() < 1e-10 * (1.0 + np.abs(found).max()):
                return
        pytest.fail("the stage does not converge")


def error(integrator, h):
    """Distance of a pendulum of length 1 m after 1 s from where sin(θ/2) = k·sn(K − ω·t) has it."""
    k = math.sin(ANGLE / 2)
    sine, *_ = ellipj(float(ellipk(k * k)) - math.sqrt(9.81), k * k)
    angle = 2.0 * math.asin(k * sine)
    rod = PointChain(
        PointChainConfig(positions=((math.sin(ANGLE), -math.cos(ANGLE)),), planar=True, links=("rod",))
    )
    simulation = small_world({"bob": rod}, integrator(h), step=h)
    simulation.run(1.0)
    return float(np.linalg.norm(simulation.state.q - [math.sin(angle), -math.cos(angle)]))


@pytest.mark.parametrize(("integrator", "order"), [(ThetaStages, 1.0), (SmoothStages, 2.0)])
def test_the_order_of_stages_with_a_rigid_rod(integrator, order):
    """Baumgarte's term, whose time is ten steps, adds an error of higher order that still shows."""
    observed = math.log2(error(integrator, 0.01) / error(integrator, 0.005))
    assert order - 0.1 < observed < order + 0.5
