"""Two rods of `der` that are welded end to end are one rod, to the order of its own discretisation."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh

from corekit.scenario.doubts import find_doubts
from corekit.scenario.load import loads

pytest.importorskip("corekit_der")

HEAD = """
format = "corekit-scenario/1"
name = "welded"
time = { duration = 1.0, step = 1e-3 }
world = { gravity = [0.0, 0.0, 0.0] }
integrator = { use = "implicit-midpoint", options = { tolerance = 1e-10 } }
"""
ROD = """
[[bodies]]
name = "NAME"
use = "der"
[bodies.options]
collision = "COLLISION"
clamps = CLAMPS
end_frames = ENDS
[[bodies.options.limbs]]
name = "rod"
start = [START, 0, 0]
end = [END, 0, 0]
nodes = NODES
radius = 0.01
young = 1e6
director = [0, 1, 0]
"""
CLAMP = '[{ at = "rod.start" }]'
CONTACT = '[contact]\nfriction = 0.5\ndetector = { use = "edges" }\nsolver = { use = "imc" }\n'


def rod(name, start, end, edges, clamps="[]", ends="[]", collision="capsules"):
    values = {
        "NAME": name, "COLLISION": collision, "CLAMPS": clamps, "ENDS": ends, "START": repr(start),
        "NODES": str(edges + 1),
    }  # fmt: skip
    text = ROD
    for key, value in values.items():
        text = text.replace(key, value)
    return text.replace("end = [END", f"end = [{end!r}")


def weld(first, second):
    return f'[[joints]]\nname = "weld"\nbetween = ["{first}", "{second}"]\n'


def welded(edges, collision="capsules", contact=""):
    one = rod("one", 0.0, 0.2, edges, CLAMP, '["rod.end"]', collision)
    two = rod("two", 0.2, 0.4, edges, "[]", '["rod.start"]', collision)
    return loads(HEAD + contact + one + two + weld("two.rod.start", "one.rod.end"))


def frequencies(simulation, count=7):
    """Those of small motions about the start, joints held [Hz]: of M and K on what the joints' rows leave free."""
    n = simulation.system.nv
    K, M, free = np.zeros((n, n)), np.zeros((n, n)), np.ones(n, dtype=bool)
    for body, own in zip(simulation.bodies, simulation.state.body_states, strict=True):
        inputs, at = np.zeros(body.description.input_size), slice(body.first_v, body.first_v + body.nv)
        derivatives = body.abilities.force_derivatives
        assert derivatives is not None
        stiffness, damping = derivatives.new_stiffness_and_damping()
        derivatives.compute_stiffness_and_damping(own, inputs, stiffness, damping)
        mass = body.model.new_mass_matrix()
        body.model.compute_mass_and_force(own, inputs, mass, np.zeros(body.nv))
        K[at, at], M[at, at] = stiffness.dense(), mass.dense()
        free[body.first_v + body.description.prescribed_velocity_index] = False
    joints, basis = simulation.system.terms.joints, np.eye(int(free.sum()))
    if joints is not None:
        joints.jump_rates(simulation.state)  # writes the rows
        basis = np.linalg.svd(joints.jacobian[:, free])[2][joints.count :].T
    K, M = (basis.T @ each[np.ix_(free, free)] @ basis for each in (K, M))
    return np.sqrt(eigh(K, M, eigvals_only=True)[:count]) / (2.0 * np.pi)


def test_rods_welded_by_the_sections_of_their_ends_ring_as_one_rod():
    """Bending in both planes and twist, three times; the errors fall at least fourfold where the edges are halved.

    By whole edges they fell twofold only: 1.2 % of the lowest and 5.6 % of the second bending at 10 edges each.
    """
    errors = []
    for edges in (5, 10, 20):
        whole = frequencies(loads(HEAD + rod("one", 0.0, 0.4, 2 * edges, CLAMP)).compose())
        errors.append(np.abs(frequencies(welded(edges).compose()) / whole - 1.0))
    assert errors[0][:4].max() < 1e-3
    for coarse, fine in pairwise(errors):
        assert (fine < 0.25 * coarse + 1e-9).all()


def test_a_heavy_body_on_the_end_of_a_rod_swings_and_turns_as_on_a_massless_beam():
    """K = E·I/L³·[[12, −6·L], [−6·L, 4·L²]] in both planes and G·J/L in twist, against the body's mass and inertia."""
    mass, inertia, length, edges = 50.0, 0.5, 0.4, 10
    box = (
        f'[[bodies]]\nname = "box"\nuse = "rigid"\nbase = {{ position = [{length}, 0, 0] }}\noptions = {{ '
        f'shape = "box", size = [0.1, 0.1, 0.1], mass = {mass}, inertia = [{inertia}, {inertia}, {inertia}] }}\n'
    )
    rigidity = 1e6 * np.pi * 0.01**4 / 4.0
    bending = rigidity / length**3 * np.array([[12.0, -6.0 * length], [-6.0 * length, 4.0 * length**2]])
    squares = eigh(bending, np.diag([mass, inertia]), eigvals_only=True)
    twist = 2.0 * rigidity / 3.0 / (length * inertia)
    expected = np.sqrt(np.sort([*squares, *squares, twist])) / (2.0 * np.pi)

    def errors(ends, frame):
        held = rod("one", 0.0, length, edges, CLAMP, ends)
        found = frequencies(loads(HEAD + held + box + weld("box.body", frame)).compose(), len(expected))
        return np.abs(found / expected - 1.0)

    # the trapezoidal rule for ∫(L/2 − s)² ds errs by 2/n², half of it in frequency; the rod has 1/400 of the mass
    assert errors('["rod.end"]', "one.rod.end").max() < 1.0 / edges**2 + 2e-3
    assert errors("[]", f"one.edge-rod-{edges - 1}").max() > 0.25 / edges


def test_check_says_that_a_held_edge_does_not_bend_and_names_its_section():
    one, two = rod("one", 0.0, 0.2, 10, CLAMP), rod("two", 0.2, 0.4, 10)
    scenario = loads(HEAD + one + two + weld("two.edge-rod-0", "one.edge-rod-9"))
    said = [each for each in find_doubts(scenario, scenario.compose()) if "end_frames" in each]
    assert len(said) == 2
    assert "two.edge-rod-0" in said[0] and "rod.start" in said[0] and "1/20" in said[0]
    assert "one.edge-rod-9" in said[1] and "rod.end" in said[1]
    inner = loads(HEAD + one + two + weld("two.edge-rod-4", "one.edge-rod-4"))
    ends = welded(10)
    for fine in (inner, ends):
        assert not [each for each in find_doubts(fine, fine.compose()) if "end_frames" in each]


def test_rods_do_not_touch_each_other_where_they_are_welded():
    """Their edges are half as long as they are thick: several at each end overlap those of the other rod."""
    simulation = welded(20, "edges", CONTACT).compose()
    for _ in range(3):
        simulation.step()
    assert simulation.contacts().gap.size == 0
