"""Deviations of parameters where no marker sees a coordinate, as of a robot in space that was filmed from one side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

from corekit_study.fit import fit
from corekit_study.fit_file import load_fit

EQUATIONS = """
import casadi as ca


def osc(system, option):
    q, v = system.coordinates("x", "y")
    place = ca.vertcat(q[0], q[1], 0)
    system.mass(1.0, place)
    system.potential_energy(0.5 * option.stiffness * q[0] ** 2)
    system.dissipation(0.5 * option.damping * v[0] ** 2)
    system.frame("tip", place)
"""
SCENARIO = """
format = "corekit-scenario/1"
name = "seen-from-one-side"
time = { duration = 1.0, step = 1e-2 }
world.gravity = [0.0, 0.0, 0.0]
integrator = "implicit-midpoint"
output.every = 0.05
[[bodies]]
name = "it"
use = "lagrangian"
options = { equations = "osc.py:osc", parameters = { stiffness = 40.0, damping = 0.5 } }
initial = { coordinates = [0.1, 0.0] }
"""
FIT = """
format = "corekit-fit/1"
name = "seen"
scenario = "s.toml"
use = "ipopt-fit"
[options]
parameters = [
  { name = "parameters.damping", low = 0.05, high = 5.0 },
  { name = "parameters.stiffness", low = 5.0, high = 500.0 },
]
markers = { file = "m.csv", deviation = 1e-3, attached = [{ marker = "tip", frame = "tip" }] }
"""


def places(c, k, start):
    one, A = np.eye(2), 0.005 * np.array([[0.0, 1.0], [-k, -c]])
    G = np.linalg.matrix_power(np.linalg.solve(one - A, one + A), 5)
    found, state = [], np.array(start)
    for _ in range(21):
        found.append(state[0])
        state = G @ state
    return np.array(found)


def test_a_coordinate_that_no_marker_sees_hides_no_deviation_of_a_parameter(tmp_path, monkeypatch):
    """The start of y is free, which left the covariance of all parameters unknown; theirs is that of x alone."""
    seen = places(0.8, 50.0, (0.1, 0.0)) + 1e-3 * np.random.default_rng(4).normal(size=21)
    for name, text in (("osc.py", EQUATIONS), ("s.toml", SCENARIO), ("f.toml", FIT)):
        (tmp_path / name).write_text(text)
    rows = "".join(f"{0.05 * i!r},tip,{float(x)!r}\n" for i, x in enumerate(seen))
    (tmp_path / "m.csv").write_text(f"time,marker,x\n{rows}")
    monkeypatch.chdir(tmp_path)
    estimate = fit(load_fit("f.toml", allow_code=True)).estimate
    answer = least_squares(
        lambda z: (places(math.exp(z[0]), math.exp(z[1]), z[2:]) - seen) / 1e-3,
        [-0.5, 3.8, 0.1, 0.0], xtol=1e-14, ftol=1e-14, gtol=1e-14, x_scale="jac",
    )  # fmt: skip
    slope: Any = answer.jac
    spread = np.sqrt(np.diag(np.linalg.inv(slope.T @ slope)))
    for each, z, own in zip(estimate.fitted, answer.x, spread, strict=False):
        assert each.verdict == "identified"
        assert math.log(each.value) == pytest.approx(z, abs=0.01 * own)
        assert math.log(each.high / each.low) == pytest.approx(2.0 * 1.96 * own, rel=0.05)
