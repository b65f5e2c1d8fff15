"""Records of contacts that resist turning: of one contact, with the force and the moment of all its points."""

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.scenario.load import from_document
from corekit_run.running import run

from .test_friction_of_areas import (
    BOTH,
    BRAKES,
    FRICTION,
    LENGTH,
    MASS,
    NEAR,
    RADIUS,
    ROLLING,
    ROLLS,
    SOLVERS,
    G,
    H,
    after,
    ball,
    document,
    world,
)  # fmt: skip

pytest.importorskip("corekit_record")


@pytest.mark.parametrize("friction", [FRICTION, ROLLS, BOTH], ids=["torsional", "rolling", "both"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_records_have_one_contact_with_force_and_moment(solver, friction):
    """About the contact point: what is slowed down has −I·dω/dt − R × f of the closed forms."""
    start = {"velocity": [1.0, 0.0, 0.0], "angular_velocity": [0.0, 1.0 / RADIUS, 0.0]}
    if friction is FRICTION:
        start = {"angular_velocity": [0.0, 0.0, 20.0]}
    simulation = world(solver, ball(friction=friction, **start)).compose()
    after(simulation, 2)
    points, record = simulation.system.record(by_point=True), simulation.contacts()
    count = (4 if "torsional" in friction else 1) + (2 if "rolling" in friction else 0)
    assert points.count == len(set(points.id.tolist())) == count
    np.testing.assert_allclose(points.normal_impulse, MASS * G * H / count, rtol=1e-6)
    assert record.count == 1
    rolls = friction is not FRICTION
    # the rows of a step are where it begins
    at = simulation.state.q[:2] - H * simulation.state.v[:2]
    np.testing.assert_allclose(record.point, [[*at, 0.0]], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(record.slip, 0.0, atol=10 * NEAR)
    assert record.mode.tolist() == [ContactMode.STICK if rolls else ContactMode.SLIDE]
    force = [-MASS * BRAKES if rolls else 0.0, 0.0, MASS * G]
    np.testing.assert_allclose(record.force, [force], atol=1e-6 * MASS * G)
    moment = [0.0, -ROLLING * MASS * G, 0.0] if rolls else [0.0, 0.0, -LENGTH * MASS * G]
    np.testing.assert_allclose(record.moment, [moment], atol=1e-6 * LENGTH * MASS * G)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_record_has_the_forces_of_its_points_whatever_they_are(solver):
    """A ball that rolls, spins and slides obliquely, and the sum of two steps of it as it turns."""
    start = {"velocity": [0.4, 0.3, 0.0], "angular_velocity": [5.0, -2.0, 20.0]}
    simulation = world(solver, ball(friction=BOTH, **start)).compose()
    joined, moments = [], []
    for _ in range(2):
        after(simulation, 1)
        points, record = simulation.system.record(by_point=True), simulation.contacts()
        slides = points.impulse[:4] - points.normal[:4] * points.normal_impulse[:4, None]
        normal = points.normal[0] * points.normal_impulse.sum()
        np.testing.assert_allclose(record.impulse[0], normal + slides.sum(axis=0), rtol=1e-12)
        friction = points.impulse - points.normal * points.normal_impulse[:, None]
        moment = np.cross(points.point - record.point, friction).sum(axis=0)
        np.testing.assert_allclose(H * record.moment[0], moment, rtol=1e-9, atol=1e-18)
        np.testing.assert_allclose(record.slip[0], points.slip[:4].mean(axis=0), rtol=1e-12)
        joined.append(record)
        moments.append(H * record.moment[0])
    both = joined[1].after(joined[0])
    np.testing.assert_allclose(both.moment[0] * both.step_size, sum(moments), rtol=1e-12)


def test_a_run_says_that_one_contact_slides_and_then_that_it_sticks(tmp_path):
    """In the file, the summary's line and the picture: a ball that spins until it stands, beside one that rolls."""
    spin = 4.5 * H * LENGTH * MASS * G / (0.4 * MASS * RADIUS**2)
    rolls = {"velocity": [1.0, 0.0, 0.0], "angular_velocity": [0.0, 1.0 / RADIUS, 0.0]}
    spins = {"position": [0.0, 1.0, RADIUS], "angular_velocity": [0.0, 0.0, spin]}
    file = document("lcp", ball(friction=BOTH, **rolls), ball("other", friction=BOTH, **spins))
    file["time"]["duration"], file["output"] = 10 * H, {"every": H}
    results = run(from_document(file), directory=tmp_path / "run")
    records = [results.contacts(k) for k in range(1, 11)]
    assert [record.count for record in records] == [2] * 10
    spins, stands = [ContactMode.STICK, ContactMode.SLIDE], [ContactMode.STICK, ContactMode.STICK]
    assert [record.mode.tolist() for record in records] == [spins] * 4 + [stands] * 6
    bound = np.array([0.0, 0.0, -LENGTH * MASS * G])
    np.testing.assert_allclose(
        [record.moment[1] for record in records[:4]], [bound] * 4, rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(
        [record.moment[0] for record in records],
        [[0.0, -ROLLING * MASS * G, 0.0]] * 10,
        rtol=1e-6,
        atol=1e-12,
    )
    np.testing.assert_allclose([record.force[:, 2] for record in records], MASS * G, rtol=1e-7)
    assert set(results.solves.contacts) == {2}
    assert results.statistics["most_contacts"] == 2
    phases = results.statistics["contact_phases"]
    assert [phase["kind"] for phase in phases] == ["free", "stick + slide", "stick"]
    assert [(phase["stick"], phase["slide"]) for phase in phases[1:]] == [([1, 1], [1, 1]), ([2, 2], [0, 0])]
    assert [len(track.point) for track in results.replay().contacts] == [0, *[2] * 10]
