"""What is left of a step is small relative to speeds that the step itself knows, and units do not count.

In units that are powers of two of each other every sum and product is that of the other world times a power of two.
So two such worlds take the same way to the end of a step, however coarse its tolerance, and their places are apart by
rounding alone, unless a number with a unit stands in the program.
"""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import from_document
from corekit_testing.worlds.drawing import make_world
from corekit_testing.worlds.images import in_units

for needed in ("rigid", "pcc", "gvs", "der", "vine", "cone", "lcp", "qp", "sdf", "mpr", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

STEPS = 20
TOLERANCE, ROUNDED = 1e-6, 1e-12
"""Of steps, relative to their speeds, and of places that are nowhere but within a metre, after some steps [m]."""
MILLIMETRES_AND_GRAMS = 1e3, 1e3, 1.0
LONGER_SECONDS = 1.0, 1.0, 2.0**-6
HEAVIER = 1.0, 2.0**12, 1.0


def stepping(scheme):
    return {"use": scheme, "options": {"tolerance": TOLERANCE}}


def contact(solver, friction):
    return {"solver": {"use": solver, "options": {"tolerance": 1e-9}}, "friction": friction}


def both(world, units):
    image = in_units(world, *units)
    return from_document(world).compose(), from_document(image.world).compose()


def places(simulation):
    names = [f"{body.name}.{frame}" for body in simulation.bodies for frame in body.description.frames]
    return np.array([simulation.frame(name).position for name in names])


@pytest.mark.parametrize("units", [LONGER_SECONDS, HEAVIER], ids=["time", "mass"])
@pytest.mark.parametrize(
    ("seed", "bodies", "obstacles", "solver", "friction", "scheme"),
    [
        (0, ["rigid"] * 3, ["floor", "box"], "lcp", 0.0, "implicit-midpoint"),
        (1, ["rigid"] * 2, ["floor", "sphere"], "cone", 0.5, "implicit-midpoint"),
        (2, ["rigid"] * 3, ["box"], "cone", 0.0, "implicit-euler"),
        (3, ["der", "rigid"], ["floor"], "qp", 0.5, "implicit-euler"),
        (4, ["gvs", "pcc"], ["floor"], "qp", 0.5, "implicit-euler"),
    ],
)
def test_steps_in_contact_take_the_same_way_in_other_units(
    seed, bodies, obstacles, solver, friction, scheme, units
):
    world = make_world(seed, bodies, obstacles, True, 2e-3, contact(solver, friction), stepping(scheme), 0.5)
    one, other = both(world, units)
    for _ in range(STEPS):
        here, there = one.step(), other.step()
        assert (here.iterations, here.note) == (there.iterations, there.note)
        assert places(other) == pytest.approx(places(one), rel=0.0, abs=ROUNDED)


@pytest.mark.parametrize("scheme", ["implicit-euler", "implicit-midpoint", "newmark", "generalized-alpha"])
@pytest.mark.parametrize("units", [LONGER_SECONDS, HEAVIER], ids=["time", "mass"])
def test_a_rod_takes_the_same_way_in_other_units(units, scheme):
    one, other = both(hanging(2e-3, scheme, TOLERANCE), units)
    for _ in range(STEPS):
        assert one.step().iterations == other.step().iterations
        assert places(other) == pytest.approx(places(one), rel=0.0, abs=ROUNDED)


def hanging(step, scheme, tolerance, young=1e6):
    """A rod that is clamped at one end and falls into the shape in which it hangs."""
    integrator = {"use": scheme, "options": {"tolerance": tolerance}}
    world = make_world(11, ["der"], [], True, step, {"solver": "cone"}, integrator, 0.0)
    del world["contact"]
    limb = world["bodies"][0]["options"]["limbs"][0]
    limb["young"], limb["viscosity"] = [young], [3e4]
    return world


@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), MILLIMETRES_AND_GRAMS], ids=["m-kg-s", "mm-g-s"])
def test_a_slow_step_misses_its_end_by_the_tolerance_of_its_own_speed(units):
    """Each step against the same one to 1e-13, while speeds fall from a decimetre a second to micrometres."""
    tolerance, slowest = 1e-5, np.inf
    asked, exact = (
        from_document(in_units(hanging(1e-2, "implicit-euler", each), *units).world).compose()
        for each in (tolerance, 1e-13)
    )
    scale = asked.system.velocity_scale
    assert scale is not None
    for _ in range(120):
        begun = asked.internal_state()
        exact.restore({name: each for name, each in begun.items() if not name.startswith("integrator")})
        speed = np.abs(scale * asked.state.v).max()
        asked.step()
        exact.step()
        speed = max(speed, np.abs(scale * exact.state.v).max())
        assert np.abs(scale * (asked.state.v - exact.state.v)).max() < 10.0 * tolerance * speed
        slowest = min(slowest, speed)
    assert slowest < 1e-4 * units[0]


def test_a_rod_that_hangs_still_ends_its_iterations_in_any_units():
    """No speed is left to be relative to: rounding of places ends them, and no step is cut."""
    for units in ((1.0, 1.0, 1.0), MILLIMETRES_AND_GRAMS, (1.0, 1.0, 1e3)):
        world = in_units(hanging(2e-2, "implicit-euler", 1e-9), *units).world
        simulation = from_document(world).compose()
        for _ in range(500):
            report = simulation.step()
            assert report.solve_info.status.solved
            assert not report.note
        assert np.abs(simulation.state.v).max() < 1e-9 * units[0] / units[2]
