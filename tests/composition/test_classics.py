"""Classics that no part was written for: capstan, thresholds of sliding and rolling, a stack, three frequencies.

Buckling stands in `test_stability`, Michell's ring with the model `der`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.scenario.load import from_document
from corekit_scenarios.cases.beam.theories import LENGTH, RADIUS, RIGIDITY, WEIGHT, modes_of

G, MU = 9.81, 0.3
IMC = {
    "use": "imc",
    "options": {"distance_tolerance": 1e-4, "stiffness": 1e5, "adapt": False, "slip_tolerance": 1e-3},
}


def document(bodies: list[dict[str, Any]], obstacle: dict[str, Any], solver: Any, **more: Any) -> Any:
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "classic",
            "time": {"duration": 10.0, "step": more.get("step", 1e-3)},
            "world": {
                "gravity": more.get("gravity", [0.0, 0.0, 0.0]),
                "obstacles": [{"name": "fixed", "friction": more.get("friction", MU), **obstacle}],
            },
            "bodies": bodies,
            "contact": {
                "detector": more.get("detector", "sdf"),
                "friction": more.get("friction", MU),
                "solver": solver,
            },
            "integrator": more.get("integrator", "semi-implicit-euler"),
            "output": {"every": more.get("step", 1e-3)},
        }
    ).compose()


@pytest.mark.parametrize(
    ("solver", "detector"), [("lcp", "sdf"), ("qp", "sdf"), ("cone", "sdf"), (IMC, "edges")]
)
def test_a_rope_on_a_drum_slips_where_euler_and_eytelwein_say(solver, detector):
    """T₂/T₁ = e^(n·asinh(μ·sin φ)) over n nodes that turn by φ = π/n, within 0.3 %; e^(μ·π) is 0.5 % more at n = 18.

    Balance at a node between edges touched at their middles, T' = ρ·T and N' = ρ·N: sinh(ln ρ) = μ·sin φ. Drag by what
    is around lets the rope come to a steady speed.
    """
    count, drum, rope = 18, 0.1, 0.002
    turn = math.pi / count
    # the middles of edges touch
    outer = (drum + rope) / math.cos(turn / 2)
    around = math.pi + turn / 2 - turn * np.arange(count + 2)
    half = outer * math.sin(turn / 2)
    tail = -half - 2 * half * np.arange(1, 4)
    arc = np.column_stack([outer * np.cos(around), 0 * around, outer * np.sin(around)])
    side = (drum + rope, 0.0)
    points = [[-side[0], 0.0, z] for z in tail[::-1]] + arc.tolist() + [[side[0], 0.0, z] for z in tail]
    limb = {"name": "rope", "points": points, "radius": [rope], "young": [1e7], "density": [1000.0]}
    limb["viscous_drag"] = 2.5  # N·s/m²: it follows its load within 5 ms
    ratio = math.exp(count * math.asinh(MU * math.sin(turn)))
    speeds = []
    for share in (0.997, 1.003):
        body = {
            "name": "rope",
            "use": "der",
            "options": {
                "limbs": [limb],
                "forces": [{"name": "held", "at": "rope.start"}, {"name": "pulled", "at": "rope.end"}],
            },
            "inputs": [
                {"channel": "force-held", "signal": [0.0, 0.0, -1.0]},
                {
                    "channel": "force-pulled",
                    "signal": [0.0, 0.0, -share * ratio],
                },
            ],
        }
        simulation = document(
            [body],
            {"shape": "capsule", "size": [drum, 1.0], "rotation_rpy": [math.pi / 2, 0.0, 0.0]},
            solver,
            detector=detector,
            integrator="implicit-euler",
        )
        for _ in range(35):
            simulation.step()
        speeds.append(float(simulation.state.v[2]))
    # what sticks creeps by the smooth law's 1 mm/s at most; 7 mN move 1 N·s/m of drag by more than thrice that
    assert abs(speeds[0]) < 1e-3
    assert speeds[1] > 3e-3


SIDE = [math.pi / 2, 0.0, 0.0]
SHAPES: list[tuple[dict[str, Any], dict[str, Any], float]] = [
    ({"shape": "box", "size": [0.2, 0.3, 0.1]}, {"position": [0, 0, 0.05]}, 1.0),
    ({"shape": "cylinder", "size": [0.2, 0.1]}, {"position": [0, 0, 0.05]}, 1.0),
    ({"shape": "disk", "size": [0.2, 0.02]}, {"position": [0, 0, 0.01]}, 1.0),
    (
        {"shape": "polytope", "vertices": [[-0.2, -0.2, 0], [0.2, -0.2, 0], [0, 0.2, 0], [0, 0, 0.1]]},
        {"position": [0, 0, 0]},
        1.0,
    ),
    # what rolls slips from tan α = μ·(1 + m·r²/I)
    ({"shape": "sphere", "size": [0.1]}, {"position": [0, 0, 0.1]}, 3.5),
    ({"shape": "cylinder", "size": [0.1, 0.2]}, {"position": [0, 0, 0.1], "rotation_rpy": SIDE}, 3.0),
    ({"shape": "disk", "size": [0.1, 0.02]}, {"position": [0, 0, 0.1], "rotation_rpy": SIDE}, 3.0),
    # a cylinder of length 2·r and the halves of a ball: I = m_c·r²/2 + 2/5·m_b·r², m_c : m_b = 3 : 2
    (
        {"shape": "capsule", "size": [0.1, 0.2]},
        {"position": [0, 0, 0.1], "rotation_rpy": SIDE},
        1.0 + 1.0 / 0.46,
    ),
]


@pytest.mark.parametrize(("options", "base", "factor"), SHAPES)
def test_a_shape_slips_beyond_its_slope_and_not_below(options, base, factor):
    """2 % on either side of the threshold: all contacts stick, or all slide with the acceleration of Coulomb."""
    for share, mode in ((0.98, ContactMode.STICK), (1.02, ContactMode.SLIDE)):
        slope = math.atan(share * factor * MU)
        simulation = document(
            [{"name": "it", "use": "rigid", "base": base, "options": {**options, "mass": 2.0}}],
            {"shape": "half-space"},
            {"use": "cone", "options": {"tolerance": 1e-11}},
            gravity=[G * math.sin(slope), 0.0, -G * math.cos(slope)],
        )
        for _ in range(10):
            simulation.step()
        record = simulation.contacts()
        assert set(record.mode.tolist()) == {mode}
        rolls = factor > 1.0
        wanted = G * (math.sin(slope) - MU * math.cos(slope))
        if mode is ContactMode.STICK:
            wanted = G * math.sin(slope) / (1.0 + 1.0 / (factor - 1.0)) if rolls else 0.0
        # ten steps of a solve to 1e-11 m/s each, of 0.03 m/s
        assert simulation.state.v[0] == pytest.approx(10e-3 * wanted, abs=1e-7)


@pytest.mark.parametrize(
    "solver", [{"use": "cone", "options": {"tolerance": 1e-11}}, "lcp", "qp"], ids=["cone", "lcp", "qp"]
)
def test_a_stack_of_ten_boxes_stands_for_four_seconds(solver):
    """Two hundred steps, by each of which it may give way by what a solve leaves, 1e-11 m/s, times 20 ms.

    `lcp` and `qp` solve for their active rows exactly.
    """
    boxes = [
        {
            "name": f"box-{k}", "use": "rigid", "base": {"position": [2e-3 * (k % 3), -1e-3 * (k % 2), 0.05 + 0.1 * k]},
            "options": {"shape": "box", "size": [0.2, 0.2, 0.1], "mass": 3.0},
        }
        for k in range(10)
    ]  # fmt: skip
    simulation = document(
        boxes, {"shape": "half-space"}, solver, gravity=[0.0, 0.0, -G], step=0.02, detector=["sdf", "mpr"],
    )  # fmt: skip
    before = simulation.state.q.copy()
    for _ in range(200):
        assert simulation.step().solve_info.status.solved
    np.testing.assert_allclose(simulation.state.q, before, atol=4e-8)


@pytest.mark.parametrize(("model", "sizes"), [("der", (20, 40)), ("vine", (20, 40)), ("pcc", (8, 16))])
def test_the_first_three_frequencies_tend_to_euler_and_bernoullis(model, sizes):
    """Second-order models, extrapolated: what is left is (k·l)⁴ of the elements, below 1e-3 in the third."""
    coarse, fine = (modes_of(model, size)[:3] for size in sizes)
    np.testing.assert_allclose((4.0 * fine - coarse) / 3.0, frequencies(), rtol=1e-3)


def test_a_strain_basis_has_three_frequencies_slowed_by_the_sections_inertia():
    """Rayleigh: a share ½·(k·r/2)² to first order, for waves; ends change it by as much in the first modes."""
    share = 0.5 * (ROOTS / LENGTH * RADIUS / 2) ** 2
    slower = 1.0 - modes_of("gvs", 6)[:3] / frequencies()
    assert (slower > 0.5 * share).all()
    assert (slower < 2.0 * share).all()


ROOTS = np.array([1.8751040687, 4.6940911330, 7.8547574382])
"""Of cos(x)·cosh(x) = −1."""


def frequencies() -> np.ndarray:
    return (ROOTS / LENGTH) ** 2 * math.sqrt(RIGIDITY / WEIGHT) / (2 * math.pi)
