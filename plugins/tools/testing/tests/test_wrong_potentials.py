"""Wrong contact potentials: each breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest

from .defects import after, failing, wrong


def potential(**methods):
    return wrong("contact_solvers", "reference-penalty", **methods)


@after
def one_sided(self, contacts, position, velocity, step, out):
    out.energy[:] *= 1.001


@after
def stiffer(self, contacts, position, velocity, step, out):
    out.stiffness[:] *= 1.001


@after
def more_damping(self, contacts, position, velocity, step, out):
    out.damping[:] *= 1.001


@after
def far_reaching(self, contacts, position, velocity, step, out):
    n = contacts.count
    out.energy[:] += np.where(contacts.gap[:n] >= self.activation_distance, 1.0, 0.0)


@after
def unreadable(self, contacts, position, velocity, step, out):
    out.normal_force[:] *= 1.001


def pushing(right, self, contacts, position, velocity, step, out):
    """Friction that drives: the right terms at the opposite slip."""
    return right(self, contacts, position, -velocity, step, out)


@after
def one_body_alone(self, contacts, position, velocity, step, out):
    """Pushes the first body and not the second."""
    second = np.repeat(contacts.weight[: contacts.count] < 0.0, 3, axis=1)
    out.force[: contacts.count][second] = 0.0


@after
def lost_in_the_distance(self, contacts, position, velocity, step, out):
    out.energy[: contacts.count][contacts.gap[: contacts.count] > 1.0] = np.nan


POTENTIALS = {
    "reaction-equal": (lambda: potential(evaluate=one_body_alone), ()),
    "resolution-bounded": (lambda: potential(resolution=lambda right, self: 2.0 * right(self)), ()),
    "force-is-slope-of-energy": (lambda: potential(evaluate=one_sided), ()),
    "potential-stiffness-is-slope": (lambda: potential(evaluate=stiffer), ()),
    "potential-damping-is-slope": (lambda: potential(evaluate=more_damping), ()),
    "within-reach": (lambda: potential(evaluate=far_reaching), ()),
    "forces-readable": (lambda: potential(evaluate=unreadable), ()),
    "friction-opposes": (lambda: potential(evaluate=pushing), ("potential-damping-is-slope",)),
}


def test_what_is_not_a_number_far_away_is_seen():
    assert failing(potential(evaluate=lost_in_the_distance)) == {"within-reach"}


@pytest.mark.parametrize("name", POTENTIALS)
def test_exactly_the_right_checks_catch_it(name):
    make, others = POTENTIALS[name]
    assert failing(make()) == {name, *others}
