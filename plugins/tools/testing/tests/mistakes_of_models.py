"""Models with one small mistake each: a sign, a factor, a buffer kept, an index, a unit."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from .defects import after, answering

__all__ = ["MODELS"]


def scaled(name: str, factor: float) -> Any:
    """A method after which the data of one of its arguments are multiplied."""

    def method(right: Any, self: Any, *arguments: Any) -> Any:
        answer = right(self, *arguments)
        names = right.__code__.co_varnames[1 : right.__code__.co_argcount]
        found = arguments[names.index(name)]
        data = found if isinstance(found, np.ndarray) else found.data
        data[...] = factor * data
        return answer

    return method


def once(name: str) -> Any:
    """A method that is evaluated at the first state alone, whose answer is given ever after."""

    def method(right: Any, self: Any, *arguments: Any) -> Any:
        kept = self.__dict__.setdefault(f"kept {name}", {})
        answer = right(self, *arguments)
        buffers = [each for each in arguments if isinstance(each, np.ndarray) or hasattr(each, "dense")]
        for i, each in enumerate(buffers):
            data = each if isinstance(each, np.ndarray) else each.data
            data[...] = kept.setdefault(i, data.copy())
        return answer

    return method


@after
def half_gravity(self, state, inputs, mass, force):
    force += 0.5 * self._carried * 9.81 * self._length * np.sin(state.q)


@after
def pulls_by_time(self, state, inputs, mass, force):
    force[0] += 1e-3 * np.sin(state.time)


@after
def one_way_mass(self, state, inputs, mass, force):
    mass.data[0, 1] = 0.0


@after
def negative_mass(self, state, inputs, mass, force):
    mass.data[...] -= 10.0 * np.eye(2)


@after
def forgets_the_second_row(self, state, inputs, mass, force):
    force[1] = 0.0


@after
def forgets_inputs(self, state, inputs, mass, force):
    force -= np.concatenate([inputs, np.zeros(force.size - inputs.size)])[: force.size]


@after
def base_at_the_origin(self, state, position, rotation):
    position -= self._base.position


@after
def transposed(self, state, position, rotation):
    rotation[:] = rotation.transpose(0, 2, 1).copy()


@after
def a_thousandth_short(self, state, frame, local, dofs, values):
    values *= 0.999


@after
def other_dofs(self, state, frame, local, dofs, values):
    dofs[:] = dofs[:, ::-1].copy()


@after
def backwards(self, start, velocity, step, previous, out):
    out.q[:] = start.q - step * velocity


@after
def twice_as_far(self, start, velocity, step, previous, out):
    out.q[:] = start.q + 2.0 * step * velocity


@after
def writes_the_velocity(self, start, velocity, step, previous, out):
    out.v[:] = velocity


@after
def steps_the_time(self, start, velocity, step, previous, out):
    out.time = start.time + step


def prints(right, self, *arguments):
    print("computing")
    return right(self, *arguments)


def rounded_off(right, self, state):
    return tuple(np.float32(each) for each in right(self, state))


MODELS = {
    "weight is halved": ({"compute_mass_and_force": half_gravity}, "terms-sum-to-force"),
    "a force by the clock of the run": ({"compute_mass_and_force": pulls_by_time}, "terms-sum-to-force"),
    "an entry of M is left out": ({"compute_mass_and_force": one_way_mass}, "mass-symmetric-positive"),
    "M is negative": ({"compute_mass_and_force": negative_mass}, "mass-symmetric-positive"),
    "M twice": ({"compute_mass_and_force": scaled("mass", 2.0)}, "kinetic-energy-from-mass"),
    "f twice": ({"compute_mass_and_force": scaled("force", 2.0)}, "terms-sum-to-force"),
    "an entry of f is left out": ({"compute_mass_and_force": forgets_the_second_row}, "terms-sum-to-force"),
    "inputs are left out": ({"compute_mass_and_force": forgets_inputs}, "input-jacobian-is-slope"),
    "M of the first state for ever": ({"compute_mass_and_force": once("mass")}, "saved-and-loaded"),
    "K of the first state for ever": ({"compute_stiffness_and_damping": once("K")}, "stiffness-is-slope"),
    "K with the other sign": (
        {"compute_stiffness_and_damping": scaled("stiffness", -1.0)},
        "stiffness-is-slope",
    ),
    "D with the other sign": (
        {"compute_stiffness_and_damping": scaled("damping", -1.0)},
        "damping-is-slope",
    ),
    "K is half": ({"compute_stiffness_and_damping": scaled("stiffness", 0.5)}, "stiffness-is-slope"),
    "no D": ({"compute_stiffness_and_damping": scaled("damping", 0.0)}, "damping-is-slope"),
    "frames forget the base": ({"compute_frame_poses": base_at_the_origin}, "rigid-motion-invariance"),
    "frames are transposed": ({"compute_frame_poses": transposed}, "rows-are-slopes-of-points"),
    "rows are a thousandth short": (
        {"compute_point_jacobians": a_thousandth_short},
        "rows-are-slopes-of-points",
    ),
    "rows of other velocities": ({"compute_point_jacobians": other_dofs}, "rows-are-slopes-of-points"),
    "rows with the other sign": (
        {"compute_point_jacobians": scaled("values", -1.0)},
        "rows-are-slopes-of-points",
    ),
    "integrates backwards": ({"integrate": backwards}, "rows-are-slopes-of-points"),
    "integrates twice as far": ({"integrate": twice_as_far}, "rows-are-slopes-of-points"),
    "integrate writes v": ({"integrate": writes_the_velocity}, "advance-consistent"),
    "integrate writes the time": ({"integrate": steps_the_time}, "advance-consistent"),
    "prints": ({"compute_mass_and_force": prints}, "leaves-no-trace"),
    "potential energy with the other sign": (
        {"compute_energies": answering(lambda found: (found[0], -found[1]))},
        "power-balance",
    ),
    "kinetic energy twice": (
        {"compute_energies": answering(lambda found: (2.0 * found[0], found[1]))},
        "kinetic-energy-from-mass",
    ),
    "energies of half the digits": ({"compute_energies": rounded_off}, "power-balance"),
    "an outline in millimetres": (
        {"compute_outline": answering(lambda found: evolve(found, points=1e3 * found.points))},
        "outline-carried",
    ),
    "∂f/∂u with the other sign": (
        {"compute_input_jacobian": scaled("out", -1.0)},
        "input-jacobian-is-slope",
    ),
    "a unit left out": (
        {
            "description": answering(
                lambda found: evolve(
                    found, velocities=tuple(evolve(each, unit="") for each in found.velocities)
                )
            )
        },
        "description-consistent",
    ),
}
