"""Every two abilities of the engine in one world: its steps fulfil Newton's second law, or it is refused.

The step that a world must make is written down without the engine in `point_worlds`.
"""

from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest

from corekit.engine.islands.contact_islands import ContactIslands
from corekit.engine.step.unreduced_step import UnreducedStep
from corekit.errors import CompositionError

from .point_worlds import LOWER, MASSES, RESTITUTION, SPEEDS, UPPER, H, Step, make_world, points

pytest.importorskip("corekit_timestep")
pytest.importorskip("corekit_sdf")

ABILITIES = (
    "joints", "constraints", "bounded", "prescribed", "potential", "islands", "unreduced", "planar", "restitution",
    "moving obstacle", "mounted base",
)  # fmt: skip
DENSE, ISLANDS, UNREDUCED, POTENTIAL = "dense", "islands", "unreduced", "potential"
"""How contacts are solved: by one dense W, island by island, with nothing eliminated, by forces of a potential."""
IN_A_PLANE = "body 'chain' moves in a plane alone and cannot be held by a joint"
PAIRS = {
    ("joints", "constraints"): DENSE,
    ("joints", "bounded"): DENSE,
    ("joints", "prescribed"): DENSE,
    ("joints", "potential"): POTENTIAL,
    ("joints", "islands"): ISLANDS,
    ("joints", "unreduced"): DENSE,
    ("joints", "planar"): f"joint 'pin': {IN_A_PLANE}",
    ("joints", "restitution"): DENSE,
    ("joints", "moving obstacle"): DENSE,
    ("joints", "mounted base"): DENSE,
    ("constraints", "bounded"): DENSE,
    ("constraints", "prescribed"): DENSE,
    ("constraints", "potential"): POTENTIAL,
    ("constraints", "islands"): ISLANDS,
    ("constraints", "unreduced"): UNREDUCED,
    ("constraints", "planar"): DENSE,
    ("constraints", "restitution"): DENSE,
    ("constraints", "moving obstacle"): DENSE,
    ("constraints", "mounted base"): DENSE,
    ("bounded", "prescribed"): DENSE,
    ("bounded", "potential"): "body 'chain' has rows with force bounds, which only a contact solver",
    ("bounded", "islands"): ISLANDS,
    ("bounded", "unreduced"): UNREDUCED,
    ("bounded", "planar"): DENSE,
    ("bounded", "restitution"): DENSE,
    ("bounded", "moving obstacle"): DENSE,
    ("bounded", "mounted base"): DENSE,
    ("prescribed", "potential"): POTENTIAL,
    ("prescribed", "islands"): ISLANDS,
    ("prescribed", "unreduced"): DENSE,
    ("prescribed", "planar"): DENSE,
    ("prescribed", "restitution"): DENSE,
    ("prescribed", "moving obstacle"): DENSE,
    ("prescribed", "mounted base"): DENSE,
    ("potential", "islands"): POTENTIAL,
    ("potential", "unreduced"): POTENTIAL,
    ("potential", "planar"): POTENTIAL,
    (
        "potential",
        "restitution",
    ): "contact.impact asks for impulses, and the contact solver 'imc' has a potential",
    ("potential", "moving obstacle"): POTENTIAL,
    ("potential", "mounted base"): POTENTIAL,
    ("islands", "unreduced"): ISLANDS,
    ("islands", "planar"): ISLANDS,
    ("islands", "restitution"): ISLANDS,
    ("islands", "moving obstacle"): ISLANDS,
    ("islands", "mounted base"): ISLANDS,
    ("unreduced", "planar"): UNREDUCED,
    ("unreduced", "restitution"): UNREDUCED,
    ("unreduced", "moving obstacle"): UNREDUCED,
    ("unreduced", "mounted base"): DENSE,
    ("planar", "restitution"): DENSE,
    ("planar", "moving obstacle"): DENSE,
    ("planar", "mounted base"): f"joint 'rider.base': {IN_A_PLANE}",
    ("restitution", "moving obstacle"): DENSE,
    ("restitution", "mounted base"): DENSE,
    ("moving obstacle", "mounted base"): DENSE,
}
STEPS = 45
"""All of the chain has met the floor, or the sphere under it."""
SCALE = max(MASSES) * np.abs(SPEEDS).max()
"""Of impulses [N·s]: what one mass brings."""


def solver_of(pair: tuple[str, str]) -> str:
    """`qp` where steps may stay unreduced; the others take turns."""
    return "qp" if UNREDUCED in pair else ("lcp", "qp", "cone")[list(PAIRS).index(pair) % 3]


def test_the_table_has_every_pair():
    assert set(PAIRS) == set(combinations(ABILITIES, 2))


@pytest.fixture
def ways(monkeypatch):
    """How often each way of solving a step was taken."""
    count = {ISLANDS: 0, UNREDUCED: 0}
    taken = (
        (ISLANDS, ContactIslands, "solve", ContactIslands.solve),
        (UNREDUCED, UnreducedStep, "solve", UnreducedStep.solve),
    )
    for name, owner, method, call in taken:

        def counted(self, *given, _name=name, _call=call, **named):
            count[_name] += 1
            return _call(self, *given, **named)

        monkeypatch.setattr(owner, method, counted)
    return count


@pytest.mark.parametrize("pair", [pair for pair, way in PAIRS.items() if " " in way], ids=" and ".join)
def test_a_pair_that_cannot_be_is_refused_in_one_sentence(pair):
    pytest.importorskip("corekit_imc")
    with pytest.raises(CompositionError, match=PAIRS[pair]):
        make_world(pair).compose()


@pytest.mark.parametrize("pair", [pair for pair, way in PAIRS.items() if " " not in way], ids=" and ".join)
def test_a_step_with_two_abilities_is_the_one_that_newton_and_the_laws_of_contact_allow(pair, ways):
    solver = solver_of(pair)
    pytest.importorskip("corekit_imc" if POTENTIAL in pair else f"corekit_{solver}")
    world = make_world(pair, solver)
    simulation = world.compose()
    places = points(world, simulation.state)[0]
    start, seen = copy.deepcopy(simulation.state), dict[str, list[np.ndarray]]()
    bounces = 0

    def look(_, report):
        nonlocal start, bounces
        assert report.solve_info.status.solved
        step, start = Step(world, places, start, simulation.state), copy.deepcopy(simulation.state)
        velocity = step.velocity_of_places if "restitution" in pair else step.v_end.ravel()
        contacts = step.contacts()
        left, missed, impulses = step.judge(velocity, None if POTENTIAL in pair else contacts)
        # Newton's method stops at 1e-8 of the velocity (`DEFAULT_TOLERANCE`) with a potential; rows are rounding
        assert np.abs(left).max() <= (1e-8 if POTENTIAL in pair else 1e-12) * SCALE
        assert missed <= 1e-11
        if "restitution" in pair:
            rows = step.bounced(contacts, velocity, impulses["contacts"])
            left, missed, again = step.judge(step.v_end.ravel(), rows)
            assert np.abs(left).max() <= 1e-12 * SCALE
            assert missed <= 1e-11
            fast = (rows.bias < -0.05 * RESTITUTION) & (again["contacts"] > 0.0)
            bounces += np.count_nonzero(fast)
        else:
            impulses.setdefault("contacts", step.pushed(velocity))
        for name, value in impulses.items():
            seen.setdefault(name, []).append(value / step.step)

    simulation.observe(look)
    for _ in range(STEPS):
        simulation.step()
    forces = {name: np.abs(values).max() for name, values in seen.items()}
    assert forces["contacts"] > 1.0
    for ability, name in (
        ("joints", "joints"), ("constraints", "rods"), ("unreduced", "rods"), ("prescribed", "driven"),
        ("mounted base", "joints"), ("bounded", "tendons"),
    ):  # fmt: skip
        assert ability not in pair or forces[name] > 1.0
    if "bounded" in pair:
        pull = np.array(seen["tendons"])
        assert ((pull > LOWER) & (pull < UPPER)).any()
        assert ((pull == LOWER) | (pull == UPPER)).any()
    if "restitution" in pair:
        assert bounces >= 2
    taken = max(ways, key=lambda way: ways[way]) if any(ways.values()) else ""
    assert taken == (PAIRS[pair] if PAIRS[pair] in ways else "")


def test_a_body_of_many_contacts_stays_unreduced(ways):
    """Islands are of several bodies; one body with a band and rods goes to `qp` as it is."""
    pytest.importorskip("corekit_qp")
    world = make_world(("unreduced",), "qp")
    chain = world.document["bodies"][0]["options"]
    count = 20
    chain |= {
        "masses": [0.1] * count, "positions": [[0.06 * i, 0.0, 0.021 + 1e-4 * i] for i in range(count)],
        "velocities": [[0.0, 0.0, -0.5]] * count, "links": ["none"] + ["rod"] * (count - 1),
    }  # fmt: skip
    world.mass, world.shaped, world.body = [0.1] * count, [True] * count, [0] * count
    world.where = [(0, 3 * i, (0, 1, 2)) for i in range(count)]
    world.rods = [(i, i - 1) for i in range(1, count)]
    simulation = world.compose()
    places, start = points(world, simulation.state)[0], copy.deepcopy(simulation.state)
    for _ in range(10):
        simulation.step()
        step, start = Step(world, places, start, simulation.state), copy.deepcopy(simulation.state)
        left, missed, impulses = step.judge(step.v_end.ravel(), step.contacts())
        assert np.abs(left).max() <= 1e-12 * SCALE
        assert missed <= 1e-11
    assert np.count_nonzero(impulses["contacts"]) >= 16
    assert ways == {ISLANDS: 0, UNREDUCED: 10}
    assert simulation.state.time == pytest.approx(10 * H)
