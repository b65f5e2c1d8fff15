"""A grid step that is cut into parts: the record of its contacts and joints is of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads
from corekit_record.results import Results
from corekit_study.compare import compare

for needed in ("corekit_rigid", "corekit_mpr", "corekit_sdf", "corekit_lcp", "corekit_imc"):
    pytest.importorskip(needed)

H, MASS, GRAVITY = 1e-2, 2.0, 9.81
KNOTS, PULL = [0.0, 0.013, 0.027, 0.0485, 0.1], [0.0, 3.0, -2.0, 4.0, 0.0]
HELD = """
format = "corekit-scenario/1"
name = "held"
time = { duration = 0.1, step = STEP }
world.gravity = [0.0, 0.0, -9.81]
[[bodies]]
name = "box"
use = "rigid"
base = { position = [0.0, 0.0, 0.05]MOUNT }
options = { shape = "box", size = [0.1, 0.1, 0.1], mass = 2.0 }
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "table", times = TIMES, values = VALUES }
[integrator]
use = "semi-implicit-euler"
"""
FLOOR = """
[[world.obstacles]]
name = "floor"
shape = "half-space"
[contact]
detector = { use = "mpr" }
solver = { use = "lcp" }
friction = 0.9
"""
THROWN = """
format = "corekit-scenario/1"
name = "thrown"
time = { duration = 0.2, step = 1e-3 }
world = { gravity = [0.0, 0.0, 0.0] }
[[bodies]]
name = "box"
use = "rigid"
options = { shape = "box", size = [0.3, 0.2, 0.1], mass = 1.3 }
[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.08, 0.03, 0.2] }
options = { shape = "sphere", size = [0.05], mass = 0.4 }
initial = { velocity = [0.4, -0.2, -1.0], angular_velocity = [3.0, 10.0, -5.0] }
[contact]
friction = 0.4
detector = { use = "sdf" }
solver = { use = "imc" }
[integrator]
use = "implicit-midpoint"
options = { tolerance = 1e-9 }
"""


def held(extra, mount=""):
    values = [[pull, 0.0, 0.0, 0.0, 0.0, 0.0] for pull in PULL]
    text = HELD.replace("STEP", str(H)).replace("TIMES", str(KNOTS)).replace("VALUES", str(values))
    return text.replace("MOUNT", mount) + extra


def pulls_by_grid_step():
    """The mean pull of every grid step, taken at the start of each of its parts as semi-implicit Euler does."""
    means = []
    for n in range(round(KNOTS[-1] / H)):
        inside = [knot for knot in KNOTS if n * H + 1e-12 < knot < (n + 1) * H - 1e-12]
        times = np.array([n * H, *inside, (n + 1) * H])
        means.append(float(np.interp(times[:-1], KNOTS, PULL) @ np.diff(times)) / H)
    return means


def test_contacts_carry_weight_and_pull_of_whole_grid_steps():
    """A box rests on a floor and is pulled to and fro within its friction; three steps have a knot inside."""
    simulation, parts = loads(held(FLOOR)).compose(), []
    simulation.observe(lambda run, report: parts.append((run.step_index, run.contacts().step_size)))
    for n, pull in enumerate(pulls_by_grid_step()):
        simulation.step()
        record = simulation.contacts()
        assert record.step_size == pytest.approx(H, rel=1e-12)
        assert record.normal_impulse.sum() == pytest.approx(MASS * GRAVITY * H, rel=1e-6)
        assert record.force.sum(axis=0) == pytest.approx([-pull, 0.0, MASS * GRAVITY], rel=1e-6, abs=1e-6)
        assert len([1 for index, _ in parts if index == n]) == 1 + any(n < knot / H < n + 1 for knot in KNOTS)
    # to an observer of a part the record is of the grid step so far
    assert [size for index, size in parts if index == 1] == pytest.approx([0.003, H])


def test_a_results_file_has_the_impulses_of_whole_grid_steps(tmp_path):
    loads(held(FLOOR)).run(directory=tmp_path / "run")
    results = Results(tmp_path / "run")
    records = [results.contacts(k) for k in range(1, len(results.time))]
    assert len(records) == round(KNOTS[-1] / H)
    for record, pull in zip(records, pulls_by_grid_step(), strict=True):
        assert record.step_size == pytest.approx(H, rel=1e-12)
        assert record.force.sum(axis=0) == pytest.approx([-pull, 0.0, MASS * GRAVITY], rel=1e-6, abs=1e-6)


def test_a_comparison_counts_every_part_once(tmp_path):
    file = tmp_path / "held.toml"
    file.write_text(held(FLOOR), encoding="utf-8")
    (row,) = compare(file, [], directory=tmp_path / "out").rows
    assert row.metrics is not None
    assert row.metrics.contact_impulse == pytest.approx(MASS * GRAVITY * KNOTS[-1], rel=1e-6)


def test_a_joint_gives_the_mean_of_whole_grid_steps():
    simulation = loads(held("", mount=', mount = "world"')).compose()
    for pull in pulls_by_grid_step():
        simulation.step()
        force = simulation.joint_force("box.base").force
        assert force == pytest.approx([-pull, 0.0, MASS * GRAVITY], rel=1e-6, abs=1e-6)


def test_impulses_of_a_thrown_ball_sum_to_its_change_of_momentum():
    """A potential's layer cuts the steps of the impact; what its Newton iterations leave is all that may be missing."""
    simulation, left, total = loads(THROWN).compose(), [], np.zeros(3)
    simulation.observe(lambda run, report: left.append(report.solve_info.residuals.equation))
    before = simulation.state.v.copy()
    while simulation.time < 0.2 - 1e-9:
        simulation.step()
        record = simulation.contacts()
        signs = [1.0 if first == "ball" else -1.0 for first, _ in record.names]
        total += np.array(signs) @ record.impulse
    assert len(left) > 205, "no step was cut"
    allowed = sum(left) + 1e-9
    assert total == pytest.approx(0.4 * (simulation.state.v - before)[6:9], abs=allowed)
    assert allowed < 2e-3 * np.linalg.norm(total)
