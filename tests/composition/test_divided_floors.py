"""Random rods on floors that are cut into boxes move as on the whole floor; on bars nothing bears a load twice.

A seam is none of the rod's contacts: at 30 of 30 tilings there are those of the whole floor. Motions differ by what
rounding makes of the solver's tolerance, with a potential by what a spring that is chosen anew leaves: less than its
layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.scenario.load import from_document
from corekit_testing.covering import covering_cells

for needed in (
    "corekit_der",
    "corekit_imc",
    "corekit_lcp",
    "corekit_qp",
    "corekit_cone",
    "corekit_sdf",
    "corekit_mpr",
):
    pytest.importorskip(needed)

WORLDS, STEPS, STEP = 30, 40, 1e-3
HALF = 0.5
"""Of a side of the floor [m]."""
LAYER = 5e-4
"""δ of `imc` [m]."""


def drawn_tiles(rng):
    """Bounds in x and y of two to eight boxes, by cuts through one after another near the middle of the floor."""
    tiles = [(-HALF, 0.013, -HALF, HALF), (0.013, HALF, -HALF, HALF)]
    for _ in range(rng.integers(0, 7)):
        x0, x1, y0, y1 = tiles.pop(int(rng.integers(len(tiles))))
        along_x, at = rng.random() < 0.6, rng.uniform(-0.1, 0.1)
        low, high = (x0, x1) if along_x else (y0, y1)
        if not low + 0.01 < at < high - 0.01:
            tiles.append((x0, x1, y0, y1))
        elif along_x:
            tiles += [(x0, at, y0, y1), (at, x1, y0, y1)]
        else:
            tiles += [(x0, x1, y0, at), (x0, x1, at, y1)]
    return tiles


def boxes(tiles):
    return [
        {
            "name": f"tile{k}", "shape": "box", "size": [x1 - x0, y1 - y0, 0.2],
            "position": [0.5 * (x0 + x1), 0.5 * (y0 + y1), -0.1],
        }
        for k, (x0, x1, y0, y1) in enumerate(tiles)
    ]  # fmt: skip


def drawn_rod(rng):
    """A limb that lies, or is about to fall by up to 3 mm, and slides and spins; its radius and friction."""
    nodes, length, radius = int(rng.integers(4, 13)), rng.uniform(0.1, 0.2), rng.uniform(0.003, 0.01)
    heading, middle = rng.uniform(-np.pi, np.pi), rng.uniform(-0.05, 0.05, 2)
    along = np.array([np.cos(heading), np.sin(heading), 0.0])
    lift = np.zeros(2) if rng.random() < 0.3 else 10.0 ** rng.uniform(-6, -2.5, 2) * (rng.random(2) < 0.7)
    spin = rng.uniform(-3.0, 3.0) * (rng.random() < 0.5)
    x = np.linspace(-0.5 * length, 0.5 * length, nodes)[:, None]
    ends = np.array([*middle, radius]) + x[[0, -1]] * along
    ends[:, 2] += lift
    limb = {
        "name": "rod", "start": ends[0].tolist(), "end": ends[1].tolist(), "nodes": nodes, "radius": radius,
        "young": 10.0 ** rng.uniform(5, 7), "density": 1000.0, "viscosity": 200.0,
    }  # fmt: skip
    moving = {
        "limb": "rod", "velocity": [*rng.uniform(-0.5, 0.5, 2).tolist(), 0.0],
        "velocities": (spin * x * np.array([-along[1], along[0], 0.0])).tolist(),
    }  # fmt: skip
    return limb, moving, float(rng.uniform(0.1, 0.6))


def world(rod, obstacles, solver, integrator, detector="edges", collision="edges") -> Any:
    limb, moving, friction = rod
    # directions that turn to slip remember the loads of a contact, by its box
    options = {"aligned": False} if solver in ("lcp", "qp") else {}
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "divided", "time": {"duration": 1.0, "step": STEP},
            "world": {"gravity": [0.0, 0.0, -9.81], "obstacles": obstacles},
            "bodies": [{
                "name": "rod", "use": "der", "options": {"collision": collision, "limbs": [limb]},
                "initial": {"limbs": [moving]},
            }],
            "contact": {
                "friction": friction, "detector": {"use": detector}, "solver": {"use": solver, "options": options},
            },
            "integrator": {"use": integrator},
        }
    ).compose()  # fmt: skip


def drawn_bars(rng, rod):
    """Parallel capsules or cylinders with tops at z = 0, so far apart that an edge meets one: of three that carry a
    straight edge, rounding would choose two.
    """
    kind, radius = ("capsule", "cylinder")[rng.integers(2)], rng.uniform(0.005, 0.02)
    edge = np.linalg.norm(np.subtract(rod[0]["end"], rod[0]["start"])) / (rod[0]["nodes"] - 1)
    pitch = max(2.0 * radius, edge * rng.uniform(1.1, 2.0))
    first, count = rng.uniform(-1.0, 1.0) * radius, int(0.2 / pitch) + 1
    return [
        {
            "name": f"bar{count + k}", "shape": kind, "size": [radius, 0.4],
            "position": [first + k * pitch, 0.0, -radius], "rotation_rpy": [0.5 * np.pi, 0.0, 0.0],
        }
        for k in range(-count, count + 1)
    ]  # fmt: skip


def found(simulation):
    """How many contacts there are at the state; records of a step that was cut hold those of all its parts."""
    return simulation.system.pipeline.detect_anew(simulation.state, 2e-3)


SOLUTIONS = [
    ("lcp", "semi-implicit-euler", "edges", "edges"), ("qp", "semi-implicit-euler", "edges", "edges"),
    ("cone", "semi-implicit-euler", "edges", "edges"), ("lcp", "semi-implicit-euler", "sdf", "edges"),
    ("cone", "implicit-euler", "edges", "edges"), ("imc", "implicit-euler", "edges", "edges"),
    ("lcp", "semi-implicit-euler", "sdf", "capsules"), ("cone", "semi-implicit-euler", "mpr", "capsules"),
]  # fmt: skip
CELLS = [(*solution, seed) for seed in range(WORLDS) for solution in SOLUTIONS]
PAIRS = [CELLS[k] for k in covering_cells(CELLS)]
"""Every rod meets every solver, integrator, detector and way to collide; `--full` runs all cells."""


@pytest.mark.parametrize(("solver", "integrator", "detector", "collision"), SOLUTIONS)
def test_thirty_rods_on_tiles_touch_and_move_as_on_the_whole_floor(
    solver, integrator, detector, collision, pytestconfig
):
    bound = {"semi-implicit-euler": 1e-9 * STEPS, "implicit-euler": 1e-8 * STEPS}[integrator]
    others = []
    solution = solver, integrator, detector, collision
    cells = CELLS if pytestconfig.getoption("full") else PAIRS
    for seed in [seed for *each, seed in cells if tuple(each) == solution]:
        rng = np.random.default_rng(seed)
        tiles, rod = drawn_tiles(rng), drawn_rod(rng)
        whole, divided = (
            world(rod, boxes(each), *solution) for each in ([(-HALF, HALF, -HALF, HALF)], tiles)
        )
        for _ in range(STEPS):
            whole.step()
            divided.step()
            if solver == "imc":
                is_same = np.abs(whole.state.q - divided.state.q).max() < LAYER
            else:
                is_same = np.abs(whole.state.v - divided.state.v).max() < bound
            if not is_same or found(whole) != found(divided):
                others.append(seed)
                break
    assert others == []


def loaded_twice(record, radius):
    """Whether two contacts within a fifth of a radius both bear a load."""
    loaded = record.normal_impulse > 1e-6 * record.normal_impulse.sum()
    point = record.point[loaded]
    apart = np.linalg.norm(point[:, None] - point, axis=2)[np.triu_indices(len(point), 1)]
    return bool(apart.min(initial=np.inf) < 0.2 * radius)


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_thirty_rods_on_bars_bear_no_load_twice_and_forget_their_perturbations(solver):
    """1e-13 m grows by no more than what solvers leave, 1e-9 of 1 m/s for the time of the run."""
    others = []
    for seed in range(WORLDS):
        rng = np.random.default_rng(1000 + seed)
        rod = drawn_rod(rng)
        bars = drawn_bars(rng, rod)
        one, other = (world(rod, bars, solver, "semi-implicit-euler") for _ in range(2))
        other.state.q[:] += 1e-13 * rng.standard_normal(len(other.state.q))
        for _ in range(STEPS):
            one.step()
            other.step()
            if loaded_twice(one.contacts(), rod[0]["radius"]):
                others.append((seed, "loaded twice"))
                break
        if np.abs(one.state.q - other.state.q).max() > 1e-9 * STEPS * STEP:
            others.append((seed, "perturbed"))
    assert others == []


@pytest.mark.parametrize("beside", [0.0, 1e-15, -1e-12, 1e-9, 1e-7, -1e-6, 1e-5, -1e-4])
@pytest.mark.parametrize(
    ("detector", "collision"), [("edges", "edges"), ("sdf", "edges"), ("sdf", "capsules")]
)
def test_a_node_at_a_seam_is_one_contact(beside, detector, collision):
    """However near it is, nodes being places of the rod and seams none."""
    limb = {
        "name": "rod", "start": [-0.1 + beside, 0.0, 0.005], "end": [0.1 + beside, 0.0, 0.005], "nodes": 11,
        "radius": 0.005, "young": 1e6, "density": 1000.0,
    }  # fmt: skip
    rod = limb, {"limb": "rod"}, 0.3
    tiles = [(-HALF, 0.0, -HALF, HALF), (0.0, HALF, -HALF, HALF)]
    simulation = world(rod, boxes(tiles), "lcp", "semi-implicit-euler", detector, collision)
    for _ in range(5):
        simulation.step()
        record = simulation.contacts()
        assert np.sort(record.point[:, 0]) == pytest.approx(np.linspace(-0.1, 0.1, 11) + beside, abs=1e-6)
