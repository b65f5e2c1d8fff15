"""Equilibria of worlds without contact, against answers found another way."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, fsolve

from corekit.data.signals import Constant, Ramp
from corekit.errors import CompositionError, StaticsFailed
from corekit.roles.component import BuildContext
from corekit_statics.equilibria import move_to_equilibrium
from corekit_statics.equilibrium import SearchOptions
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.rounding import rounding
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import MODEL_ABILITIES, small_world

G = 9.81
SHORT = SearchOptions(max_iterations=30)
"""For searches that find nothing: three to nine steps find what is there."""


def world(model, **options):
    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))
    return small_world({"body": model}, integrator, step=1e-3, **options)


def rest(model, at=0.0, **options):
    search = {
        name: options.pop(name)
        for name in ("load_steps", "models_without_gravity", "search")
        if name in options
    }
    search["options"] = search.pop("search", None)
    return move_to_equilibrium(world(model, **options), at, **search)[-1]


def chain(gravity=(0.0, 0.0, -G), **options):
    return PointChain(PointChainConfig(**options), BuildContext(gravity=np.array(gravity)))


# — pendulums: the angle, and whether it stays —


@settings(deadline=None, max_examples=25)
@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1))
def test_a_double_pendulum_let_go_anywhere_comes_to_hang(first, second):
    config = PendulumConfig(lengths=(1.0, 0.4), masses=(1.0, 3.0), angles=(first, second), rates=(0.0, 0.0))
    found = rest(Pendulum(config))
    assert found.stability.stable
    assert np.allclose(np.sin(found.q), 0.0, atol=1e-8)
    assert np.allclose(np.cos(found.q), 1.0)


def test_hanging_pendulum_swings_at_its_frequency_and_the_inverted_one_falls_at_that_rate():
    hanging = rest(Pendulum(PendulumConfig(lengths=(0.7,)))).stability
    assert (hanging.verdict, hanging.modes) == ("stable", 0)
    assert hanging.smallest == pytest.approx(G / 0.7)
    inverted = rest(Pendulum(PendulumConfig(lengths=(0.7,), angles=(math.pi,))))
    assert inverted.iterations == 0
    assert (inverted.stability.verdict, inverted.stability.modes) == ("unstable", 1)
    assert inverted.stability.smallest == pytest.approx(-G / 0.7)
    assert "unstable, 1 mode, grows by e in 0.267 s" in str(inverted.stability)


def test_a_torque_holds_a_pendulum_at_the_arcsine():
    torque = {"body": {"torque": Constant((4.0,))}}
    found = rest(Pendulum(PendulumConfig(lengths=(0.7,), masses=(1.3,), angles=(0.1,))), inputs=torque)
    assert found.q[0] == pytest.approx(math.asin(4.0 / (1.3 * G * 0.7)), abs=1e-10)


def test_a_path_of_loads_that_ends_says_at_which_time():
    """A torque that grows with time: m·g·l is the largest that a pendulum holds."""
    torque = Ramp(begin=0.0, end=1.0, start=(0.0,), value=(2.0 * G,))
    pendulum = Pendulum(PendulumConfig(lengths=(1.0,)))
    simulation = world(pendulum, inputs={"body": {"torque": torque}})
    with pytest.raises(StaticsFailed) as caught:
        move_to_equilibrium(simulation, [0.0, 0.25, 0.75], options=SHORT)
    assert caught.value.__notes__[-1] == "That was at t = 0.75 s, time 3 of 3."


def test_rods_that_hang_straight_are_at_rest_with_the_weights_below_them():
    """The forces of rows that nothing is known of are those that balance best: here exactly, so no step is taken."""
    found = rest(
        chain(
            masses=(1.0, 2.0), positions=((0.0, 0.0, -1.0), (0.0, 0.0, -2.0)), links=("rod", "rod"),
            lengths=(1.0, 1.0),
        )
    )  # fmt: skip
    assert found.iterations == 0
    assert found.stability.stable
    assert np.sort(np.abs(found.constraint_forces[0])) == pytest.approx([2.0 * G, 3.0 * G])


def test_a_load_beyond_the_largest_that_can_be_held_says_how_far_it_went():
    """Balance ends where the pendulum is level, at the share m·g·l/τ of the torque."""
    torque = {"body": {"torque": Constant((40.0,))}}
    with pytest.raises(StaticsFailed) as caught:
        rest(
            Pendulum(PendulumConfig(lengths=(0.7,), masses=(1.3,), angles=(0.1,))),
            inputs=torque,
            search=SHORT,
        )
    (note,) = caught.value.__notes__
    reached = float(note.split("load factor ")[1].split(" ")[0])
    largest = 1.3 * G * 0.7 / 40.0
    assert largest - 1.0 / 128.0 < reached <= largest
    assert caught.value.load > largest


# — chains between two points: a polygon with the horizontal force as its one unknown —

NODES, SPAN = 9, 0.8
ZIGZAG = tuple((SPAN * (i + 1) / NODES, -0.06 * (i % 2 == 0) * (i < NODES - 1)) for i in range(NODES))
WEIGHT = 0.5 * G


def funicular(lengths, stretch):
    """Nodes of a chain from the origin to (SPAN, ZIGZAG's end) under equal weights, and the force in its first link.

    Each link lies along the force it carries, (H, V + i·W), and is as long as `stretch` makes it.
    """

    def nodes(unknown):
        pulls = np.stack([np.full(NODES, unknown[0]), unknown[1] + WEIGHT * np.arange(NODES)], axis=1)
        force = np.linalg.norm(pulls, axis=1)
        return np.cumsum(pulls / force[:, None] * (lengths + stretch * force)[:, None], axis=0), pulls

    unknown = fsolve(
        lambda x: nodes(x)[0][-1] - np.array(ZIGZAG[-1]), [5.0, -0.5 * NODES * WEIGHT], xtol=1e-13
    )
    return nodes(unknown)


@pytest.mark.parametrize("structure", ["diagonal", "banded", "dense"])
@pytest.mark.parametrize(
    ("link", "stretch"), [("rod", 0.0), ("rod", 2e-3), ("spring", 5e-3)], ids=["rods", "compliant", "springs"]
)
def test_a_hanging_chain_is_the_polygon_of_its_forces(link, stretch, structure):
    model = chain(
        planar=True, masses=(0.5,) * NODES, positions=ZIGZAG, links=(link,) * NODES, driven=(NODES - 1,),
        structure=structure, **({"compliance": stretch} if link == "rod" else {"stiffness": 1 / stretch}),
    )  # fmt: skip
    lengths = np.linalg.norm(np.diff(np.vstack([[0.0, 0.0], ZIGZAG]), axis=0), axis=1)
    wanted, pulls = funicular(lengths, stretch)
    found = rest(model)
    assert np.allclose(found.q.reshape(-1, 2), wanted, atol=1e-9)
    assert found.stability.stable
    # the clamp holds the last node's weight and the pull of the last link
    assert np.allclose(found.reactions, pulls[-1] + [0.0, 0.5 * G], rtol=1e-8)
    if link == "rod":
        # a row's force is positive where it pushes its nodes apart
        assert np.allclose(found.constraint_forces[0], -np.linalg.norm(pulls, axis=1), rtol=1e-8)
    assert set(found.residual) == {"N"}
    assert found.residual["N"] <= 1e-9 * found.scale


@pytest.mark.parametrize("alpha", [1e-5, 1e-2])
def test_compliant_rods_stretch_by_what_hangs_below_them(alpha):
    model = chain(
        masses=(1.0, 2.0, 0.5),
        positions=((0, 0, -1), (0, 0, -1.5), (0, 0, -2)),
        links=("rod",) * 3,
        compliance=alpha,
    )
    below = np.array([3.5, 2.5, 0.5]) * G
    wanted = -np.cumsum([1.0, 0.5, 0.5] + alpha * below)
    assert np.allclose(rest(model).q.reshape(-1, 3)[:, 2], wanted, atol=1e-12)


def test_springs_that_stretch_by_twice_the_world_hang_at_rest_after_one_step():
    """Along a taut line of springs forces are linear: Newton's whole step is exact, however far it leads."""
    masses, stiffness, natural = np.array([1.0, 1.0]), 8.0, 0.1
    model = chain(
        masses=tuple(masses), positions=((0, 0, -1), (0, 0, -2)), links=("spring",) * 2, stiffness=stiffness,
        lengths=(natural,) * 2,
    )  # fmt: skip
    found = rest(model)
    wanted = -np.cumsum(natural + G / stiffness * np.cumsum(masses[::-1])[::-1])
    assert np.allclose(found.q.reshape(-1, 3)[:, 2], wanted, atol=1e-12)
    assert abs(wanted[1] + 2.0) > 1.8
    assert found.iterations == 1


def test_a_step_that_leads_away_from_balance_is_not_taken_whole():
    """A weak spring begins almost slack: the whole first step swings the mass far aside, and is taken back."""
    model = chain(
        masses=(1.0,), positions=((1.0, 0.0, 0.0),), links=("spring",), stiffness=200.0, lengths=(0.999,)
    )
    found = rest(model)
    assert found.stability.stable
    assert np.allclose(found.q, [0.0, 0.0, -0.999 - G / 200.0], atol=1e-8)


def test_modes_of_a_chain_of_rods_are_those_of_the_pendulum_in_angles():
    """The same mechanism in other coordinates: rows and their curvature against minimal coordinates."""
    lengths, masses = (0.3, 0.5, 0.2), (1.0, 0.4, 2.0)
    depth = -np.cumsum(lengths)
    rods = chain(
        planar=True, masses=masses, positions=tuple((0.01 * i, float(z)) for i, z in enumerate(depth)),
        links=("rod",) * 3, lengths=lengths,
    )  # fmt: skip
    angles = Pendulum(PendulumConfig(lengths=lengths, masses=masses, angles=(0.1,) * 3, rates=(0.0,) * 3))
    first, second = rest(rods).stability, rest(angles).stability
    assert first.smallest == pytest.approx(second.smallest, rel=1e-6)
    assert first.stable and second.stable


def test_a_long_banded_chain_has_the_slowest_mode_of_a_dense_one():
    """Above 60 velocities the lowest eigenvalue is bracketed, with the structure kept."""
    n = 40
    places = tuple((0.025 * (i + 1), 0.0, 0.0) for i in range(n))
    options = {"masses": (0.01,) * n, "positions": places, "links": ("spring",) * n, "driven": (n - 1,)}
    found = {
        structure: rest(chain(structure=structure, stiffness=400.0, **options))
        for structure in ("diagonal", "dense")
    }
    model, q = chain(stiffness=400.0, structure="dense", **options), found["dense"].state.body_states[0]
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(q, np.zeros(3), stiffness, damping)
    slowest = np.linalg.eigvalsh(stiffness.dense()[:-3, :-3])[0] / 0.01
    for each in found.values():
        assert each.stability.smallest == pytest.approx(slowest, rel=2e-6)
        assert each.stability.stable


# — loads that grow: snap-through, buckling —


def truss(mass, gravity=G):
    """Two springs of a shallow roof of span 2 and height 0.2, a mass at its ridge."""
    return chain(
        gravity=(0.0, 0.0, -gravity), planar=True, masses=(mass, 1.0), positions=((1.0, 0.2), (2.0, 0.0)),
        links=("spring",) * 2, stiffness=1000.0, driven=(1,),
    )  # fmt: skip


def lift(z):
    """Upward force of the roof's springs on the ridge at height z, with both sides equal [N]."""
    length, natural = math.hypot(1.0, z), math.hypot(1.0, 0.2)
    return -2 * 1000.0 * (length - natural) * z / length


def test_load_steps_follow_a_roof_to_its_critical_load_and_snap_beyond_it():
    heights = np.linspace(0.0, 0.2, 200001)
    lifts = np.array([lift(z) for z in heights[::100]])
    critical = float(np.max(lifts)) / G
    top = float(heights[::100][np.argmax(lifts)])
    for share in (0.95, 1.05):
        mass = share * critical
        found = []
        simulation = world(truss(mass))
        path = move_to_equilibrium(
            simulation,
            load_steps=10,
            models_without_gravity=lambda mass=mass: [truss(mass, 0.0)],
            report=found.append,
        )
        assert [round(each.load_factor, 9) for each in path] == [round(0.1 * k, 9) for k in range(1, 11)]
        for each in path:
            weight = each.load_factor * mass * G
            bracket = (top, 0.2) if each.load_factor * share < 1.0 else (-0.6, -0.2)
            wanted = brentq(lambda z, weight=weight: lift(z) - weight, *bracket, xtol=1e-13)
            assert each.q[1] == pytest.approx(wanted, abs=1e-9)
            assert each.q[0] == pytest.approx(1.0, abs=1e-9)
            assert each.stability.stable
    slowing = [each.stability.smallest for each in path[:9]]
    assert all(later < earlier for earlier, later in pairwise(slowing))


# — rows that bind a rate, or give way —


def test_a_winch_at_rest_holds_the_length_it_has():
    start = (0.6, 0.0, -0.2)
    found = rest(chain(masses=(2.0,), positions=(start,), links=("winch",)))
    assert np.allclose(found.q, [0.0, 0.0, -math.hypot(*start)], atol=1e-9)
    assert found.constraint_forces[0] == pytest.approx([-2.0 * G])


def test_a_turning_winch_is_refused():
    with pytest.raises(CompositionError, match=r"row 0 of body 'body' is driven at 0\.3 per second"):
        rest(chain(positions=((0, 0, -1),), links=("winch",)), inputs={"body": {"reel": Constant((0.3,))}})


def test_a_creeping_winch_carries_its_rate_over_its_compliance():
    """J·v − u + α·λ = 0 at v = 0: a dashpot at rest, with a motor's pull u/α."""
    model = chain(masses=(1.0,), positions=((0, 0, -1.0),), links=("winch",), compliance=0.1)
    with pytest.raises(StaticsFailed, match="nothing balances"):
        rest(model)
    balanced = {"body": {"reel": Constant((-0.1 * G,))}}
    found = rest(model, inputs=balanced)
    assert np.allclose(found.q, [0.0, 0.0, -1.0])


@pytest.mark.parametrize("link", ["tendon", "brake"])
def test_rows_with_bounds_hold_what_they_can(link):
    options = {"masses": (2.0,), "positions": ((0, 0, -1.0),), "links": (link,), "upper": 0.0}
    found = rest(chain(lower=-25.0, **options), solver=ProjectedGaussSeidel())
    assert np.allclose(found.q, [0.0, 0.0, -1.0], atol=1e-9)
    assert found.constraint_forces[0] == pytest.approx([-2.0 * G])
    with pytest.raises(StaticsFailed, match="moves away without end"):
        rest(chain(lower=-15.0, **options), solver=ProjectedGaussSeidel())


def test_prescribed_nodes_stand_where_their_path_is_at_that_time():
    model = chain(
        masses=(1.0, 1.0), positions=((0.5, 0, -0.5), (1.0, 0, 0)), links=("spring",) * 2, driven=(1,),
        drive_rate=(0.1, 0.0, 0.2),
    )  # fmt: skip
    found = rest(model, at=2.0)
    np.testing.assert_allclose(found.q[3:], [1.2, 0.0, 0.4], rtol=0, atol=rounding(2, 1.2))
    assert found.state.time == 2.0
    assert not found.state.v.any()
    again = move_to_equilibrium(world(model), [0.0, 1.0, 2.0])
    assert [each.state.time for each in again] == [0.0, 1.0, 2.0]
    assert np.allclose(again[-1].q, found.q, atol=1e-9)


# — what has no equilibrium, or cannot be judged —


def test_a_free_body_is_said_to_fall_without_end():
    with pytest.raises(StaticsFailed) as caught:
        rest(chain(masses=(2.0,), positions=((0, 0, 1.0),)))
    assert "nothing balances the force on 'vz0' of body 'body'" in str(caught.value)
    assert "-19.6 N" in str(caught.value)
    assert caught.value.residual == pytest.approx(2.0 * G)


def test_a_mechanism_without_load_rests_anywhere_and_is_neutral():
    found = rest(chain(gravity=(0, 0, 0), masses=(2.0,), positions=((0.3, 0.2, 1.0),), links=("rod",)))
    assert np.allclose(found.q, [0.3, 0.2, 1.0])
    assert found.stability.verdict == "neutral"


def test_a_model_without_tangent_is_refused():
    model = chain(positions=((0, 0, -1),), links=("spring",))
    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))
    simulation = small_world(
        {"arm": model}, integrator, step=1e-3, abilities=MODEL_ABILITIES - {"force-derivatives"}
    )
    with pytest.raises(CompositionError, match=r"'force-derivatives'.*'arm'"):
        move_to_equilibrium(simulation)


def test_contradicting_rows_are_no_equilibrium():
    """A rod to a node that a clamp holds out of its reach."""
    model = chain(masses=(1.0,), positions=((0, 0, -1),), links=("rod",), lengths=(0.5,), driven=(0,))
    with pytest.raises(StaticsFailed):
        rest(model)


def test_a_stepped_simulation_goes_on_from_its_equilibrium_without_moving():
    model = chain(masses=(1.0,) * 3, positions=((0.2, 0, 0), (0.4, 0, 0), (0.6, 0, 0)), links=("spring",) * 3)
    simulation = world(model)
    (found,) = move_to_equilibrium(simulation)
    simulation.run(0.5)
    assert np.allclose(simulation.state.q, found.q, atol=1e-9)


def test_a_search_that_takes_too_long_names_the_other_ways():
    config = PendulumConfig(lengths=(1.0, 0.4), masses=(1.0, 3.0), angles=(2.0, -1.0), rates=(0.0, 0.0))
    with pytest.raises(StaticsFailed, match=r"within 1 iterations .*--load-steps.*--sweep.*initial.*damping"):
        move_to_equilibrium(world(Pendulum(config)), options=SearchOptions(max_iterations=1))


def test_gravity_grows_in_bodies_of_different_size():
    """Masses on springs from the origin: under a share s of gravity each link stretches by s·(weight below)/k."""

    def hung(masses, gravity):
        return chain(
            gravity, masses=masses, positions=tuple((0, 0, -1.0 - k) for k in range(len(masses))),
            links=("spring",) * len(masses), stiffness=400.0,
        )  # fmt: skip

    def models(gravity):
        return [hung((2.0,), gravity), hung((1.0, 3.0, 0.5), gravity)]

    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))
    world = dict(zip(("one", "three"), models((0.0, 0.0, -G)), strict=True))
    path = move_to_equilibrium(
        small_world(world, integrator, step=1e-3), load_steps=2,
        models_without_gravity=lambda: models((0.0, 0.0, 0.0)),
    )  # fmt: skip
    for found, share in zip(path, (0.5, 1.0), strict=True):
        below = np.array([2.0, 4.5, 3.5, 0.5])
        stretch = share * G * below / 400.0
        heights = -np.array([1.0 + stretch[0], *np.cumsum(1.0 + stretch[1:])])
        assert np.allclose(found.q[2::3], heights, atol=1e-9)
