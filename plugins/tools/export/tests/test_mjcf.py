"""Masses, pivots, friction and clamps of a world in MuJoCo, against what the scenario says."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import load, loads
from corekit_export.mjcf import mjcf_of
from corekit_record.results import Results

mujoco = pytest.importorskip("mujoco")

HEAD = """
format = "corekit-scenario/1"
name = "world"
time = { duration = 0.002, step = 1e-3 }
integrator = "implicit-euler"
"""
RIGID = '[[bodies]]\nname = "it"\nuse = "rigid"\nbase.position = [0.1, 0.2, 0.5]\n'
SMALL = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
LARGE = [[0.1, 0, 0], [0.5, 0, 0], [0.1, 0.4, 0], [0.1, 0, 0.6]]
# of tetrahedra: a sixth of the triple product, and the mean of the corners
VOLUMES = np.array([0.1**3, 0.4 * 0.4 * 0.6]) / 6.0
CENTRES = np.array([np.mean(SMALL, axis=0), np.mean(LARGE, axis=0)])


@pytest.fixture
def written(tmp_path):
    """A function that makes a scenario's model, and the sentences on what it leaves out."""

    def write(text):
        loads(HEAD + text).run(directory=tmp_path / "run")
        text, notes = mjcf_of(load(tmp_path / "run" / "resolved.toml"), Results(tmp_path / "run"))
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return model, data, notes

    return write


def test_pieces_weigh_as_their_volumes(written):
    model, data, notes = written(
        f'{RIGID}options = {{ shape = "polytopes", pieces = {[SMALL, LARGE]}, mass = 0.4 }}'
    )
    centre = VOLUMES @ CENTRES / VOLUMES.sum()
    assert model.body("it").mass == pytest.approx(0.4)
    np.testing.assert_allclose(data.body("it").xipos, centre + [0.1, 0.2, 0.5], rtol=1e-6)
    assert not notes


def test_a_given_inertia_is_about_the_centre_of_the_hull(written):
    shape = f'shape = "polytope", vertices = {SMALL}, mass = 0.4, inertia = [0.01, 0.02, 0.025]'
    _, data, _ = written(f"{RIGID}options = {{ {shape} }}")
    np.testing.assert_allclose(data.body("it").xipos, CENTRES[0] + [0.1, 0.2, 0.5], rtol=1e-6)


@pytest.mark.parametrize("pivot", [None, (0.1, 0.0, 0.05)])
def test_a_body_turns_about_its_pivot(written, pivot):
    own = "" if pivot is None else f", pivot = {list(pivot)}"
    shape = (
        f'shape = "box", size = [0.2, 0.3, 0.1], mass = 2.0, fixed_centre = true, angular_damping = 0.3{own}'
    )
    model, data, _ = written(f"{RIGID}options = {{ {shape} }}")
    arm = -np.array(pivot or (0.0, 0.0, 0.0))
    inertia = np.diag([0.09 + 0.01, 0.04 + 0.01, 0.04 + 0.09]) * 2.0 / 12.0
    inertia += 2.0 * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    turn = np.linalg.solve(inertia, np.cross(arm, [0.0, 0.0, -2.0 * 9.81]))
    np.testing.assert_allclose(data.qacc, turn, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.dof_damping, 0.3)


def ball(name, x, friction):
    own, surface = friction if isinstance(friction, tuple) else (friction, "")
    option = "" if own is None else f", friction = {own}"
    return (
        f'[[bodies]]\nname = "{name}"\nuse = "rigid"\nbase.position = [{x}, 0.0, 0.0999]\n{surface}\n'
        f'options = {{ shape = "sphere", size = [0.1], mass = 0.4{option} }}\n'
    )


def test_contacts_have_the_friction_of_the_scenario(written):
    balls = {"plain": None, "own": 0.3, "given": (None, "friction = 0.7"), "named": 0.6}
    areas = "friction = { sliding = 0.5, torsional = 0.003, rolling = 0.001 }"
    places = enumerate({**balls, "area": (None, areas)}.items())
    text = "".join(ball(name, 0.3 * k, friction) for k, (name, friction) in places)
    _, data, notes = written(
        f'{text}[[world.obstacles]]\nname = "floor"\nshape = "half-space"\nfriction = 0.8\n'
        '[[world.friction]]\nbetween = ["named", "floor"]\nvalue = 0.15\n'
        '[contact]\ndetector = "sdf"\nsolver = "lcp"\nfriction = 0.2\nimpact.restitution = 0.5\n'
    )
    names = ["plain", "own", "given", "named", "area"]
    found = dict(zip(names, sorted(data.contact, key=lambda each: each.pos[0]), strict=True))
    wanted = {
        "plain": 0.8,
        "own": np.sqrt(0.3 * 0.8),
        "given": np.sqrt(0.7 * 0.8),
        "named": 0.15,
        "area": np.sqrt(0.5 * 0.8),
    }
    for name, mu in wanted.items():
        np.testing.assert_allclose(found[name].friction[:2], mu, rtol=1e-8, err_msg=name)
        assert found[name].dim == (6 if name == "area" else 3)
    np.testing.assert_allclose(found["area"].friction[2:], [0.003, 0.001, 0.001])
    assert notes == ["left out: restitution, which MuJoCo's contacts do not have"]


def rod(clamps, more=""):
    return (
        f'[[bodies]]\nname = "rod"\nuse = "der"\noptions = {{ clamps = [{clamps}], limbs = [{{ name = "beam", '
        "start = [0.0, 0.0, 0.0], end = [0.3, 0.0, 0.0], nodes = 31, radius = 5e-3, young = 5e7, density = 1000.0, "
        f"viscosity = 2e5{more} }}] }}\n"
    )


def run(model, data, steps):
    for _ in range(steps):
        mujoco.mj_step(model, data)


def end_of(data, link):
    return data.body(link).xpos + data.body(link).xmat.reshape(3, 3)[:, 0] * 0.01


@pytest.mark.parametrize("end", [False, True])
def test_a_clamped_node_bends_over_half_an_edge(written, end):
    model, data, _ = written(rod('{ at = "beam.end" }' if end else '{ at = "beam.start" }'))
    run(model, data, 2500)
    load, edge, stiffness = 1000.0 * np.pi * 0.005**2 * 9.81, 0.01, 5e7 * 0.25 * np.pi * 0.005**4
    arms = edge * np.append(np.arange(1, 30), 30.0)
    springs = stiffness / edge * np.append(np.ones(29), 2.0)
    sag = np.sum(0.5 * load * arms**3 / springs)
    assert -end_of(data, "rod-beam-30")[2] == pytest.approx(sag, rel=(sag / 0.3) ** 2)


def test_a_pinned_rod_turns_about_its_pin(written):
    """Work of gravity is kinetic energy; a chain that was clamped would keep its root's direction."""
    model, data, notes = written(rod('{ at = "beam.start", kind = "pin" }'))
    run(model, data, 300)
    assert np.linalg.norm(data.body("rod-beam-1").xpos) < 1e-9
    assert data.body("rod-beam-1").xmat.reshape(3, 3)[2, 0] < -0.5
    assert notes == ["approximate: the rods of 'rod' are chains of links, which do not stretch"]


def test_further_clamps_hold_their_nodes(written):
    clamps = '{ at = "beam.start", kind = "edge" }, { at = "beam.20", kind = "pin" }, { at = "beam.end" }'
    model, data, notes = written(rod(clamps))
    run(model, data, 500)
    for node in (20, 30):  # which fall 1.2 m freely
        assert np.linalg.norm(end_of(data, f"rod-beam-{node}") - [0.01 * node, 0.0, 0.0]) < 1e-3
    assert notes[0] == "approximate: the clamp of rod-beam at node 30 holds the whole edge"


def test_what_is_left_out_is_said(written):
    _, _, notes = written(
        f'{RIGID}options = {{ shape = "sphere", size = [0.1], mass = 0.4, linear_damping = 0.3 }}\n'
        'initial = { velocity = [1.0, 0.0, 0.0] }\ninputs = [{ channel = "wrench", signal = [1, 0, 0, 0, 0, 0] }]\n'
        + rod('{ at = "beam.start", angle = { kind = "ramp", from = 0.0, to = 1.0, value = 0.1 } }')
        + '[[world.obstacles]]\nname = "belt"\nshape = "half-space"\n'
        'position = { kind = "ramp", from = 0.0, to = 9.0, value = [9.0, 0.0, -1.0], start = [0.0, 0.0, -1.0] }\n'
        '[contact]\ndetector = ["sdf", "edges"]\nsolver = "lcp"\nfriction = 0.2\n'
    )
    assert notes == [
        "left out: the motion of 'belt'",
        "left out: the drag of 'it'",
        "left out: the motion of the clamp of 'rod' at beam.start",
        "approximate: the rods of 'rod' are chains of links, which do not stretch",
        "left out: the inputs of 'it'",
        "left out: velocities at the first record; everything begins at rest",
    ]


def test_rods_of_two_bodies_touch_and_those_of_one_do_not(written):
    """Crossed rods, which overlap: MuJoCo finds a contact between bodies alone."""
    lower = rod("").replace('name = "rod"', 'name = "lower"')
    turned = lower.replace('"lower"', '"upper"').replace("[0.0, 0.0, 0.0]", "[0.1495, -0.15, 0.0095]")
    turned = turned.replace("[0.3, 0.0, 0.0]", "[0.1495, 0.15, 0.0095]")
    contact = '[contact]\ndetector = "edges"\nsolver = "lcp"\nfriction = 0.2\n'
    model, data, _ = written(lower + turned + contact)
    owners = {
        frozenset(model.geom(k).name.partition("-")[0] for k in (each.geom1, each.geom2))
        for each in data.contact
    }
    assert owners == {frozenset({"lower", "upper"})}
