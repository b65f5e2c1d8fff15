"""Each wrong model breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest
from attrs import evolve, frozen

from corekit.roles.compiled_form import CompiledForm
from corekit.roles.options import option

from .defects import (
    CHAIN,
    PLANAR,
    after,
    answering,
    chain,
    counter,
    drift,
    failing,
    pendulum,
    role_checks,
    wrong,
)
from .expressions import PARAMETERS, ROWS, SYMBOLIC
from .wrong_forces import FORCES


def description_with(**changes):
    return answering(lambda found: evolve(found, **changes))


@after
def touch_the_state(self, state):
    state.v[0] += 1e-12


def hoarded(right, self, state, inputs):
    """Hands out the arrays it works on."""
    if not hasattr(self, "kept"):
        self.kept = {}
    for name, term in right(self, state, inputs).items():
        self.kept.setdefault(name, np.zeros_like(term))[:] = term
    return self.kept


def ageing_outline(right, self, state):
    found = right(self, state)
    found.radius[:] += counter(self)
    return found


def outline_without_end(right, self, state):
    found = right(self, state)
    return evolve(found, points=np.vstack([found.points[:-1], [[np.nan, 0.0, 0.0]]]))


def level_by_lot(right, self, state):
    kinetic, potential = right(self, state)
    return kinetic, potential + drift(self)


def drawn_at_the_origin(right, self, state):
    """Draws as if the base was where the world begins."""
    found = right(self, state)
    return evolve(found, points=(found.points - self._base.position) @ self._base.rotation)


def stay(none, self, state, position, rotation, velocity, angular_velocity):
    """Leaves its base where it is."""


def unmoved(none, self, config):
    """Has the numbers it had."""
    return self


def forgetful(right, self, internal_state):
    self._gravity = 0.9 * self._gravity


def accumulating_poses(right, self, state, position, rotation):
    before = np.nan_to_num(position)
    right(self, state, position, rotation)
    position += before


@after
def skewed_mass(self, state, inputs, mass, force):
    mass.data[0, 1] += 0.1
    mass.data[1, 0] -= 0.1


@after
def creeping_advance(self, start, velocity, step, previous, out):
    out.q += 1e-9


def overwriting_reparametrise(right, self, state):
    state.q += 0.1
    return False


@after
def fast_rate(self, time, value, rate):
    rate *= 1.01


@after
def stretched_frames(self, state, position, rotation):
    rotation *= 1.001


@after
def longer_rows(self, state, frame, local, dofs, values):
    values *= 1.00001


def narrow_rows(right, self, state, frame, local, dofs, values):
    """Leaves the index of an unused entry as it finds it."""
    right(self, state, frame, local, dofs[:, :-1], values[:, :, :-1])
    values[:, :, -1] = 0.0


@after
def shifted_off_the_plane(self, state, position, rotation):
    position += 0.01 * np.cross(self._axes[0], self._axes[1])


@after
def constraint_in_other_units(self, state, inputs, rows):
    rows.position_error *= 1.01


@after
def suddenly_bounded(self, state, inputs, rows):
    rows.bounded[:] = True


@after
def bent_curvature(self, state, impulse, out):
    out.data[0, 0] += 0.1


def growing_layout(right, self):
    """A layout whose frames get more from call to call."""
    found = right(self)
    return evolve(found, velocity_scale=np.full(len(found.velocities), 1.0 + counter(self)))


@frozen(kw_only=True)
class Swung:
    """Where a pendulum starts."""

    tip: float = option(0.2, "angle of the last rod", unit="rad")
    rate: float = option(0.0, "of the last rod", unit="rad/s")


def started(change):
    """A pendulum with `initial` options, read by `change(initial, out)`."""

    def initial_state(right, self, initial, out):
        right(self, None, out)
        if initial is not None:
            change(initial, out)

    return pendulum(spec={"initial": f"{__name__}:Swung"}, compute_initial_state=initial_state)


def swing(initial, out):
    out.q[-1], out.v[-1] = initial.tip, initial.rate


def stale(right, self, initial, out):
    """Leaves v as it finds it."""
    v = out.v.copy()
    right(self, initial, out)
    out.v[:] = v


WRONG = {
    **FORCES,
    "description-constant": (lambda: pendulum(description=growing_layout), ()),
    "initial-state-whole": (lambda: pendulum(compute_initial_state=stale), ()),
    "initial-options-read": (lambda: started(lambda initial, out: np.copyto(out.q[-1:], initial.tip)), ()),
    "inputs-unchanged": (lambda: pendulum(compute_outline=touch_the_state), ()),
    "answers-own-memory": (lambda: pendulum(compute_force_terms=hoarded), ()),
    "deterministic": (
        lambda: pendulum(compute_energies=level_by_lot),
        ("answers-own-memory", "saved-and-loaded", "instances-apart", "buffers-overwritten"),
    ),
    "saved-and-loaded": (lambda: pendulum(restore=forgetful), ()),
    "pure": (lambda: pendulum(compute_outline=ageing_outline), ("saved-and-loaded",)),
    "buffers-overwritten": (lambda: pendulum(compute_frame_poses=accumulating_poses), ()),
    "description-consistent": (
        lambda: chain(
            description=answering(lambda found: evolve(found, frames=("same",) * len(found.frames)))
        ),
        (),
    ),
    "description-declared": (
        lambda: wrong(
            "models",
            "reference-point-chain",
            CHAIN,
            spec={"provides": chain().spec.provides | {"planar"}},
        ),
        (),
    ),
    "answers-sized": (
        lambda: pendulum(compute_outline=answering(lambda found: evolve(found, radius=found.radius[:-1]))),
        (),
    ),
    "answers-finite": (lambda: pendulum(compute_outline=outline_without_end), ()),
    "mass-symmetric-positive": (lambda: pendulum(compute_mass_and_force=skewed_mass), ()),
    "advance-consistent": (lambda: pendulum(integrate=creeping_advance), ()),
    "reparametrise-equivalent": (
        lambda: pendulum(
            spec={"provides": pendulum().spec.provides | {"reparametrisation"}},
            reparametrise=overwriting_reparametrise,
        ),
        (),
    ),
    "prescribed-rate": (lambda: chain(compute_prescribed_motion=fast_rate), ()),
    "state-doubts-said": (
        lambda: pendulum(
            spec={"provides": pendulum().spec.provides | {"state-doubts"}},
            find_state_doubts=lambda self, state, inputs: "it swings",
        ),
        (),
    ),
    "poses-orthonormal": (lambda: chain(compute_frame_poses=stretched_frames), ()),
    "rows-are-slopes-of-points": (lambda: pendulum(compute_point_jacobians=longer_rows), ()),
    "rows-well-formed": (
        lambda: chain(description=description_with(jacobian_width=4), compute_point_jacobians=narrow_rows),
        (),
    ),
    "stays-in-plane": (
        lambda: wrong("models", "reference-point-chain", PLANAR, compute_frame_poses=shifted_off_the_plane),
        (),
    ),
    "bilateral-rows-are-slopes": (lambda: chain(compute_constraints=constraint_in_other_units), ()),
    "bilateral-rows-fixed": (lambda: chain(compute_constraints=suddenly_bounded), ()),
    "bilateral-curvature-is-slope": (lambda: chain(compute_constraint_force_gradient=bent_curvature), ()),
    "new-numbers-as-built": (
        lambda: pendulum(spec={"provides": pendulum().spec.provides | {"new-numbers"}}, with_numbers=unmoved),
        (),
    ),
    "compiled-form-is-the-model": (
        lambda: pendulum(
            spec={"provides": pendulum().spec.provides | {"compiled-form"}},
            compiled_form=lambda _right, _self: CompiledForm(entries={"dynamics": 1}),
        ),
        (),
    ),
    "outline-carried": (lambda: pendulum(compute_outline=drawn_at_the_origin), ()),
    "base-placed": (
        lambda: pendulum(spec={"provides": pendulum().spec.provides | {"free-base"}}, place_base=stay),
        (),
    ),
}
"""Check → a model that it must catch, and the other checks that see the same defect."""


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


@after
def blur(self, state, inputs, stiffness, damping):
    stiffness.data *= 1.0 + 1e-4


def test_an_error_of_derivatives_passes_where_the_model_declares_it():
    silent = failing(pendulum(compute_stiffness_and_damping=blur))
    assert silent == {"stiffness-is-slope", "balance-tangent-is-slope"}
    declared = description_with(derivative_error=2e-4)
    assert failing(pendulum(compute_stiffness_and_damping=blur, description=declared)) == set()


def test_a_model_with_options_of_its_initial_state_passes():
    assert failing(started(swing)) == set()


def test_every_check_of_models_catches_a_wrong_one():
    expected = [*SYMBOLIC, *PARAMETERS, *ROWS]
    caught = {*WRONG, *(name for _, names in expected for name in names)}
    assert role_checks("models") == caught
