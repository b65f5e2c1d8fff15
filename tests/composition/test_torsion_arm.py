"""Equilibria of the third-party example, an arm with torsion springs, against their scalar equations."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, root

from corekit.roles.component import BuildContext
from corekit_statics.equilibria import move_to_equilibrium
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world

G = 9.81


def rest(model):
    return move_to_equilibrium(
        small_world({"arm": model}, SemiImplicitEuler(None, BuildContext(step=1e-3)), step=1e-3), 0.0
    )[-1]


@pytest.fixture
def torsion_arm(monkeypatch):
    """The example of a third-party model."""
    source = Path(__file__).parents[2] / "examples/third_party/torsion-arm/src"
    monkeypatch.syspath_prepend(str(source))
    model, config = (import_module(f"torsion_arm.{name}") for name in ("model", "config"))
    yield lambda **options: model.TorsionArm(config.TorsionArmConfig(**options))
    for name in [name for name in sys.modules if name.startswith("torsion_arm")]:
        del sys.modules[name]


def test_a_column_on_a_torsion_spring_buckles_at_its_critical_load(torsion_arm):
    """k·q = ½·m·g·l·sin q: upright is the only rest up to m·g·l = 2k, and unstable beyond."""
    length, mass = 0.5, 1.0
    moment = 0.5 * mass * G * length
    for share, word in ((1.02, "stable"), (0.98, "unstable")):
        upright = rest(torsion_arm(links=1, length=length, mass=mass, stiffness=share * moment))
        assert (upright.iterations, upright.stability.verdict) == (0, word)
        wanted = (share - 1.0) * moment / (mass * length**2 / 3)
        assert upright.stability.smallest == pytest.approx(wanted, rel=1e-9)
    crooked = rest(torsion_arm(links=1, length=length, mass=mass, stiffness=0.8 * moment, natural_angle=1e-3))
    wanted = brentq(lambda q: 0.8 * (q - 1e-3) - math.sin(q), 0.5, 3.0, xtol=1e-14)
    assert crooked.q[0] == pytest.approx(wanted, abs=1e-9)
    assert crooked.stability.stable


def test_a_torsion_arm_bends_as_moments_about_its_joints_say(torsion_arm):
    n, length, mass, stiffness = 5, 0.15, 0.1, 0.9

    def imbalance(q):
        theta = np.cumsum(q)
        across = np.sin(theta) * length
        middle = np.cumsum(across) - 0.5 * across
        joint = np.cumsum(across) - across
        return [
            stiffness * (q[i] - 0.2) - sum(mass * G * (middle[k] - joint[i]) for k in range(i, n))
            for i in range(n)
        ]

    found = rest(torsion_arm(links=n, length=length, mass=mass, stiffness=stiffness, natural_angle=0.2))
    assert np.allclose(imbalance(found.q), 0.0, atol=1e-9)
    from_there = root(imbalance, found.q, tol=1e-13)
    assert np.allclose(found.q, from_there.x, atol=1e-9)
