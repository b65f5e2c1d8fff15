"""A distribution from outside brings a friction law, a box instead of an ellipse, and the contact solver for it."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import CompositionError, ConfigError
from corekit.registry.discover import discover
from corekit.roles.friction import friction_law
from corekit.scenario.load import load
from corekit_testing.conformance import Subject, checks_of, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER, light_spec, spec_true

SPEC = """
from corekit.registry.spec import ComponentSpec
from corekit.roles.friction import FrictionLaw

box = FrictionLaw(
    name="lab:box", coefficients=("along", "across"), is_directional=True,
    gauge=lambda record, along, across: max(abs(along) / record[0], abs(across) / record[1]),
    dissipation=lambda record, along, across: record[0] * abs(along) + record[1] * abs(across),
)
solver = ComponentSpec(
    role="contact_solvers", name="box-solver", target="lab_friction.solver:BoxSolver",
    config="lab_friction.solver:Config", summary="Boxes of friction.", api="0.2", provides={"impulses", "lab:box"},
)
"""

SOLVER = '''
"""|f_1| <= along, |f_2| <= across per unit of normal impulse, or Coulomb's disk, by projected Gauss-Seidel."""

from typing import final

import numpy as np
from attrs import frozen
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.contact import ImpulseSolver

SWEEPS, SETTLED = 2000, 1e-12

@frozen(kw_only=True)
class Config:
    pass

@final
class BoxSolver(ImpulseSolver):
    def __init__(self, config, context):
        self._has_box = context.friction_law == "lab:box"

    def solve(self, problem, impulse):
        delassus, free = problem.delassus(), problem.free_velocity
        if not (np.isfinite(delassus).all() and np.isfinite(free).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), "box-solver")
        status, sweeps = Status.ITERATION_LIMIT, 0
        while status is Status.ITERATION_LIMIT and sweeps < SWEEPS:
            before, sweeps = impulse.copy(), sweeps + 1
            for rows in self._rows(problem):
                velocity = delassus[rows] @ impulse + free[rows]
                mobility = np.trace(delassus[rows, rows]) or 1.0
                impulse[rows] = self._law(problem, rows, impulse, impulse[rows] - velocity / mobility)
            if np.abs(impulse - before).max(initial=0.0) <= SETTLED * np.abs(impulse).max(initial=0.0):
                status = Status.CONVERGED
        velocity = delassus @ impulse + free
        errors = {"normal": 0.0, "friction": 0.0}
        for rows in self._rows(problem):
            found = impulse[rows] - self._law(problem, rows, impulse, impulse[rows] - velocity[rows])
            kind = "normal" if self._is_normal(problem, rows) else "friction"
            errors[kind] = max(errors[kind], np.linalg.norm(found))
        return SolveInfo(status, sweeps, Residuals(**errors), "box-solver")

    def _rows(self, problem):
        """Normal rows, friction rows of a contact together, and bounded rows, in turn."""
        width, contacts = problem.rows_per_contact, problem.contact_count
        for c in range(contacts):
            yield slice(c * width, c * width + 1)
            yield slice(c * width + 1, (c + 1) * width)
        for row in range(contacts * width, len(problem.free_velocity)):
            yield slice(row, row + 1)

    def _is_normal(self, problem, rows):
        width, end = problem.rows_per_contact, problem.contact_count * problem.rows_per_contact
        return rows.start >= end or rows.start % width == 0

    def _law(self, problem, rows, impulse, wanted):
        """The nearest impulse of these rows that the law allows."""
        width, end = problem.rows_per_contact, problem.contact_count * problem.rows_per_contact
        if rows.start >= end:
            b = rows.start - end
            return np.clip(wanted, problem.lower[b], problem.upper[b])
        if rows.start % width == 0:
            return np.maximum(wanted, 0.0)
        c = rows.start // width
        pressed = impulse[c * width]
        if self._has_box:
            limit = problem.friction_record[c, : width - 1] * pressed
            return np.clip(wanted, -limit, limit)
        limit, size = problem.friction[c] * pressed, np.linalg.norm(wanted)
        return wanted if size <= limit else wanted * (limit / size)
'''

SCENARIO = """
format = "corekit-scenario/1"
name = "in-a-box"
time = { duration = 0.1, step = 1e-3 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.01 }
contact = { detector = "sdf", solver = { use = "box-solver" } }

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[bodies]]
name = "ball"
use = "reference-point-chain"
friction = { law = "lab:box", along = 0.2, across = 0.6, axis = [0.6, 0.8, 0.0] }
options = { masses = [2.0], positions = [[0.0, 0.0, 0.05]], shape = "sphere", radius = 0.05 }
"""

G, DURATION = 9.81, 0.1


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A distribution `lab-friction` on the import path, as pip leaves one, and a scenario."""
    package, info = tmp_path / "lab_friction", tmp_path / "lab_friction-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_spec.py").write_text(SPEC)
    (package / "solver.py").write_text(SOLVER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-friction\nVersion: 1.0\n")
    entries = (
        "[corekit.friction_laws]\nlab:box = lab_friction._spec:box\nlab:lost = lab_friction._spec:lost\n"
    )
    solvers = "[corekit.contact_solvers]\nbox-solver = lab_friction._spec:solver\n"
    (info / "entry_points.txt").write_text(entries + solvers)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"


def test_a_ball_in_the_box_is_slowed_down_along_and_across_at_once(lab):
    assert friction_law("lab:box").record_width == 2
    simulation = load(lab).compose()
    along, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    simulation.state.v[:2] = 1.0 * along + 1.0 * across
    simulation.run(DURATION)
    # both coefficients act at once: more friction than the larger one alone allows, and no fault of the solver
    assert simulation.report.solve_info.status.solved
    slowed = (1.0 - 0.2 * G * DURATION) * along + (1.0 - 0.6 * G * DURATION) * across
    np.testing.assert_allclose(simulation.state.v[:2], slowed, atol=1e-9)


def test_a_spec_that_states_the_law_too_is_light_and_true_to_the_kit(lab):
    subject = Subject.installed("contact_solvers", "box-solver")
    light_spec.run(subject)
    spec_true.run(subject)


def test_the_solver_keeps_what_its_role_promises(lab):
    """By Coulomb's law and by its own, redundant contacts and bounded rows included."""
    subject = Subject.installed("contact_solvers", "box-solver")
    own = checks_of("contact_solvers")[len(PAPER) :]
    failed = [each for each in run_checks(subject, checks=own) if each.verdict is Verdict.FAILED]
    assert not failed


def test_the_listing_takes_the_law_for_no_component(lab):
    ours = [row for row in discover() if row.distribution == "lab-friction"]
    assert [(row.role, row.name, row.reason) for row in ours] == [("contact_solvers", "box-solver", "")]


def test_a_solver_that_does_not_know_the_law_is_refused(lab):
    with pytest.raises(
        CompositionError, match="asks for 'lab:box', which contact solver 'lcp' does not support"
    ):
        load(lab, ["contact.solver.use=lcp"]).compose()


def test_a_law_that_nobody_brings_is_a_mistake_with_its_path(lab):
    with pytest.raises(ConfigError, match=r"bodies\[0\]\.friction.*unknown friction law 'lab:disk'.*lab:box"):
        load(lab, ["bodies[0].friction.law=lab:disk"])


def test_a_law_that_cannot_be_loaded_is_named_with_its_distribution_where_it_stands(lab):
    with pytest.raises(ConfigError) as refused:
        load(lab, ["bodies[0].friction.law=lab:lost"])
    (mistake,) = refused.value.mistakes
    assert mistake.path == "bodies[0].friction"
    assert (
        "the friction law 'lab:lost' of lab-friction 1.0: loading lab_friction._spec:lost failed"
        in mistake.allowed
    )


def test_a_law_that_two_distributions_bring_is_refused_where_it_stands(lab):
    info = lab.parent / "other_friction-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-friction\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[corekit.friction_laws]\nlab:box = lab_friction._spec:box\n")
    with pytest.raises(ConfigError) as refused:
        load(lab)
    said = "the friction law 'lab:box' is brought by lab-friction 1.0 and other-friction 2.0: uninstall all but one"
    assert {mistake.allowed for mistake in refused.value.mistakes} == {said}
