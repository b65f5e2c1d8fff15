"""An engine from outside that differentiates its own steps: tools ask it for what its role promises, and no more.

A point of mass m on the ground, pressed by N = m·g − F_z, meets friction in proportion to load and speed:

    λ_n = h·(m·g − F_z) − m·v_z,      λ_t = −c·λ_n·v_t,      m·v⁺_t = m·v_t + h·F_t + λ_t,      q⁺ = q + h·v⁺      (1)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.errors import GradientError
from corekit.roles.derivatives import (
    DifferentiableWorld,
    ModelTwins,
    PushedContacts,
    RunDerivative,
    StepLinearisation,
    SweepReport,
)
from corekit.roles.world import Engine
from corekit.scenario.engines import make_world
from corekit.scenario.load import from_document

pytest.importorskip("corekit_gradients")
pytest.importorskip("corekit_sdf")
pytest.importorskip("corekit_lcp")

H, STEPS, MASS, GRAVITY, DRAG = 1e-3, 7, 2.0, 9.81, 5.0
PULL = np.array([3.0, -1.0, 4.0])
START = np.array([0.8, 0.5, 0.0])
DOCUMENT = {
    "format": "corekit-scenario/1", "name": "slider", "engine": "lab:film", "time": {"duration": STEPS * H, "step": H},
    "world": {"gravity": [0.0, 0.0, -GRAVITY], "obstacles": [{"name": "ground", "shape": "half-space"}]},
    "bodies": [{
        "name": "slider", "use": "reference-point-chain",
        "options": {
            "masses": [MASS], "positions": [[0.0, 0.0, 0.1]], "velocities": [START.tolist()], "shape": "sphere",
        },
        "inputs": [{"channel": "pull", "signal": PULL.tolist()}],
    }],
    "contact": {"detector": "sdf", "solver": "lcp"},
    "integrator": {"use": "reference-semi-implicit-euler"}, "output": {"every": H},
}  # fmt: skip


class Record:
    """What `RecordedStep` asks for, and what (1) needs to be differentiated: no attribute of the kernel's records."""

    def __init__(self, start: State, end: State, pull, impulse) -> None:
        self.start, self.end, self.pull, self.impulse = start.copy(), end.copy(), pull, impulse

    @property
    def pushed(self) -> PushedContacts:
        return PushedContacts(H, np.array([7]), 3)


class Pulled(NamedTuple):
    """Covectors behind a step, by place, velocity, force and mass."""

    place: np.ndarray
    velocity: np.ndarray
    pull: np.ndarray
    mass: float


def pull_back(record, place, velocity, of_impulse):
    """(1) transposed."""
    v, normal = record.start.v, record.impulse[0]
    own = velocity[:2] + H * place[:2]
    tangential = of_impulse[1:] + own / MASS
    pressed = of_impulse[0] - DRAG * v[:2] @ tangential
    back = np.append(own - DRAG * normal * tangential, -MASS * pressed)
    gained = H * record.pull[:2] + record.impulse[1:]
    by_mass = pressed * (H * GRAVITY - v[2]) - own @ gained / MASS**2
    return Pulled(np.append(place[:2], place[2]), back, np.append(H * own / MASS, -H * pressed), by_mass)


class Derivatives:
    """A `WorldDerivatives`."""

    def displace(self, state, displacement, out):
        out.copy_from(state)
        out.q += displacement

    def difference(self, state, change):
        return change

    def sweep_back(self, tape, loss, *, wants_inputs=False, twins=(), progress=None, after=None):
        place, velocity = np.zeros((2, 3)) if after is None else (after.place.copy(), after.velocity.copy())
        inputs, parameters = np.zeros((len(tape), 3)), np.zeros(len(twins))
        for k in reversed(range(len(tape))):
            own, of_impulse = loss(k), np.zeros(3)
            if own is not None:
                place, velocity = place + own.by_displacement, velocity + own.by_velocity
                of_impulse = of_impulse if own.by_impulse is None else own.by_impulse[0]
            found = pull_back(tape[k], place, velocity, of_impulse)
            place, velocity, inputs[k] = found.place, found.velocity, found.pull
            for number, each in enumerate(twins):
                assert isinstance(each, ModelTwins)
                masses = [masses_of(model) for model in (each.ahead, each.behind)]
                parameters[number] += found.mass * (masses[0] - masses[1]) / (2.0 * each.size)
        own = loss(-1)
        if own is not None:
            place, velocity = place + own.by_displacement, velocity + own.by_velocity
        report = SweepReport(len(tape), 0, 0, 0, 0)
        return RunDerivative(place, velocity, inputs if wants_inputs else None, parameters, report)

    def linearise(self, tape):
        by_state, by_inputs = np.eye(6), np.zeros((6, 3))
        for record in reversed(tape):
            found = [pull_back(record, row[:3], row[3:], np.zeros(3)) for row in by_state]
            by_inputs += [each.pull for each in found]
            by_state = np.array([np.concatenate([each.place, each.velocity]) for each in found])
        return StepLinearisation(by_state, by_inputs, False)


def masses_of(model):
    matrix, force = model.new_mass_matrix(), np.zeros(3)
    at = State(q=np.zeros(3), v=np.zeros(3), aux=np.zeros(0))
    model.compute_mass_and_force(at, np.zeros(3), matrix, force)
    out = np.zeros(3)
    matrix.multiply(np.ones(3), out)
    return out[0]


class Silent:
    """The world of (1); what it does not do itself the kernel's world does, behind the seam. It has no derivatives."""

    def __init__(self, world) -> None:
        self._world, self._pull, self._impulse = world, np.zeros(3), np.zeros(3)

    def __getattr__(self, name):
        return getattr(self._world, name)

    def step(self, integrator, state, stop, out, longest):
        assert stop - state.time == pytest.approx(H, rel=1e-9)
        (body,) = self.bodies
        self._pull = pull = body.inputs.value_at(state.time).copy()
        mass = masses_of(body.model)
        normal = H * (mass * GRAVITY - pull[2]) - mass * state.v[2]
        self._impulse = np.append(normal, -DRAG * normal * state.v[:2])
        out.v[:2] = state.v[:2] + (H * pull[:2] + self._impulse[1:]) / mass
        out.v[2], out.time = 0.0, stop
        out.q[:] = state.q + H * out.v
        return StepReport(accepted=True, step_size=H)

    def record(self, *, by_point=False):
        axes, none = np.eye(3), np.zeros(1)
        return ContactRecord(
            id=np.array([7]), shape=np.array([[0, 1]]), gap=none, point=np.zeros((1, 3)), normal=axes[2:],
            tangent=axes[:1], normal_impulse=self._impulse[:1], tangential_impulse=self._impulse[None, 1:],
            slip=np.zeros((1, 2)), mode=np.zeros(1, dtype=np.int64), residual=none, step_size=H,
        )  # fmt: skip

    def freeze_step(self, start, end, before):
        return Record(start, end, self._pull, self._impulse)


class Film(Silent):
    """The same with derivatives."""

    def derivatives(self, state):
        return Derivatives()


def engine_of(name: str, world: Any) -> Engine:
    return Engine(name, lambda spec: "", lambda spec: world(make_world(spec)))


film, silent = engine_of("lab:film", Film), engine_of("lab:silent", Silent)


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    """A distribution on the import path, as pip leaves one, whose engines are those of this file."""
    info = tmp_path / "lab_film-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-film\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[corekit.engines]\nlab:film = {__name__}:film\nlab:silent = {__name__}:silent\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def composed(**options):
    """The scenario, with other options of the body or another pull."""
    engine, pull = options.pop("engine", "lab:film"), options.pop("pull", PULL)
    (body,) = DOCUMENT["bodies"]
    signal = {"channel": "pull", "signal": np.asarray(pull).tolist()}
    changed = {**body, "options": {**body["options"], **options}, "inputs": [signal]}
    return from_document({**DOCUMENT, "engine": engine, "bodies": [changed]}).compose()


def press(instant):
    assert instant.contacts.names == (("slider", "ground"),)
    return instant.contacts.normal[0]


def drag(instant):
    """What the contact did, and the state that it left."""
    return instant.contacts.tangential[0] @ [1.0, 2.0] + instant.v[0] * instant.q[1]


def ran(loss, **options):
    return composed(**options).gradient(loss, until=STEPS * H).value


def difference(loss, size, ahead, behind):
    return (ran(loss, **ahead) - ran(loss, **behind)) / (2.0 * size)


def test_how_a_strangers_contact_presses_is_known_from_mechanics():
    """N = m·g − F_z of the last step, whatever the earlier ones held."""
    found = composed().gradient(
        press, until=STEPS * H, inputs=True, parameters=["bodies.slider.options.masses"]
    )
    assert found.value == pytest.approx(MASS * GRAVITY - PULL[2], rel=1e-12)
    expected = np.zeros((STEPS, 3))
    expected[-1, 2] = -1.0
    np.testing.assert_allclose(found.inputs["slider"]["pull"], expected, atol=1e-9)
    assert found.parameters["bodies.slider.options.masses[0]"] == pytest.approx(GRAVITY, rel=1e-9)
    assert not found.initial.displacement.any()
    assert found.report.steps == STEPS


def test_a_loss_of_a_strangers_contact_has_the_derivatives_of_differences_of_runs():
    """Here what it did and the state that it left both count: twins of whole runs know either."""
    found = composed().gradient(
        drag, until=STEPS * H, inputs=True, parameters=["bodies.slider.options.masses"]
    )
    size = 1e-4
    for axis in range(3):
        change = size * np.eye(3)[axis]
        by_start = difference(drag, size, *({"velocities": [(START + s * change).tolist()]} for s in (1, -1)))
        assert found.initial.velocity[axis] == pytest.approx(by_start, rel=1e-6, abs=1e-9)
        by_pull = difference(drag, size, *({"pull": PULL + s * change} for s in (1, -1)))
        summed = found.inputs["slider"]["pull"][:, axis].sum()
        assert summed == pytest.approx(by_pull, rel=1e-6, abs=1e-9)
    by_mass = difference(drag, size, *({"masses": [MASS + s * size]} for s in (1, -1)))
    assert found.parameters["bodies.slider.options.masses[0]"] == pytest.approx(by_mass, rel=1e-6)


def test_a_strangers_run_is_differentiated_in_pieces_and_a_step_linearised():
    def end(instant):
        return instant.q[0] - 2.0 * instant.v[1] ** 2

    def along(instant):
        return instant.v[0] ** 2

    whole, pieces = (
        composed().gradient(end, until=STEPS * H, running=along, inputs=True, checkpoints=count)
        for count in (0, 2)
    )
    assert pieces.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(pieces.initial.velocity, whole.initial.velocity, rtol=1e-9)
    np.testing.assert_allclose(
        pieces.inputs["slider"]["pull"], whole.inputs["slider"]["pull"], rtol=1e-9, atol=1e-12
    )
    normal = H * (MASS * GRAVITY - PULL[2])
    found = composed().linearise()
    assert found.A[3:5, 3:5] == pytest.approx((1.0 - DRAG * normal / MASS) * np.eye(2), rel=1e-12)
    # v_z lessens the load, and with it friction
    assert found.A[3:5, 5] == pytest.approx(DRAG * START[:2], rel=1e-12)
    assert found.B[3:5, :2] == pytest.approx(H / MASS * np.eye(2), rel=1e-12)
    assert found.B[3:5, 2] == pytest.approx(DRAG * H / MASS * START[:2], rel=1e-12)


def test_contacts_of_which_a_record_tells_nothing_are_not_differentiated(monkeypatch):
    monkeypatch.setattr(Record, "pushed", None)
    with pytest.raises(GradientError, match="a loss asks for contacts"):
        composed().gradient(press, until=STEPS * H)


def test_an_engine_without_derivatives_is_refused_by_name():
    assert isinstance(composed().system, DifferentiableWorld)
    with pytest.raises(GradientError, match="Silent has no derivatives of its steps: use the engine"):
        composed(engine="lab:silent").gradient(lambda instant: instant.q[0], until=STEPS * H)
