"""A model's CasADi expressions against its numbers, to 1e-10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.model_states import Probe, extent, points_of
from corekit_testing.conformance.subject import Subject

__all__ = ["SYMBOLIC"]

_FUNCTIONS = ("mass", "force", "energy", "poses")


class _Symbols:
    """A model's expressions with their symbols."""

    def __init__(self, subject: Subject) -> None:
        import casadi

        self.casadi: Any = casadi
        self.probe = Probe(subject)
        self.expressions: Any = self.probe.model.symbolic()
        description = self.probe.description
        self.q = casadi.SX.sym("q", len(description.coordinates))
        self.v = casadi.SX.sym("v", len(description.velocities))
        self.u = casadi.SX.sym("u", description.input_size)

    def evaluator(self, symbols: Sequence[Any], *expressions: Any) -> Callable[..., list[Array]]:
        """A function of numbers in place of the symbols: the expressions' numbers. Making it is slow, calls are not."""
        function = self.casadi.Function("value", list(symbols), list(expressions))
        return lambda *numbers: [np.array(each, dtype=float) for each in function.call(list(numbers))]


def _close(what: str, found: Array, wanted: Array) -> None:
    wanted = np.asarray(wanted, dtype=float)
    expect_close(what, np.reshape(found, wanted.shape), wanted, 1e-10 * (1 + np.abs(wanted).max(initial=0.0)))


@check("symbolic-dynamics", "mass and force as expressions equal the numbers to 1e-10", "symbolic")
def symbolic_dynamics(subject: Subject) -> None:
    s = _Symbols(subject)
    mass, force = s.expressions.mass(s.q), s.expressions.force(s.q, s.v, s.u)
    evaluate_mass, evaluate_force = s.evaluator([s.q], mass), s.evaluator([s.q, s.v, s.u], force)
    for state in s.probe.states:
        _close("symbolic mass", evaluate_mass(state.q)[0], s.probe.mass(state))
        _close("symbolic force", evaluate_force(state.q, state.v, s.probe.inputs)[0], s.probe.force(state))


@check("symbolic-energy", "energies as expressions equal the numbers to 1e-10", "symbolic", "energy")
def symbolic_energy(subject: Subject) -> None:
    s = _Symbols(subject)
    kinetic = s.evaluator([s.q, s.v], s.expressions.kinetic_energy(s.q, s.v))
    potential = s.evaluator([s.q], s.expressions.potential_energy(s.q))
    for state in s.probe.states:
        wanted = s.probe.model.compute_energies(state)
        _close("symbolic kinetic energy", kinetic(state.q, state.v)[0], np.array(wanted[0]))
        _close("symbolic potential energy", potential(state.q)[0], np.array(wanted[1]))


@check(
    "symbolic-points",
    "poses, points and their rows as expressions equal the numbers",
    "symbolic",
    "point-jacobian",
)
def symbolic_points(subject: Subject) -> None:
    s = _Symbols(subject)
    frame, local = points_of(s.probe.model, extent(s.probe.model, s.probe.states[0]))
    state = s.probe.states[0]
    position, rotation = s.probe.poses(state)
    points, rows = s.probe.points(state, frame, local), s.probe.rows(state, frame, local)
    expressions: list[Any] = []
    for c, f in enumerate(int(each) for each in frame):
        expressions += s.expressions.pose(s.q, f)
        expressions += [s.expressions.point(s.q, f, local[c]), s.expressions.point_jacobian(s.q, f, local[c])]
    found = iter(s.evaluator([s.q], *expressions)(state.q))
    for c, f in enumerate(int(each) for each in frame):
        _close("symbolic position", next(found), position[f])
        _close("symbolic rotation", next(found), rotation[f])
        _close("symbolic point", next(found), points[c])
        _close("symbolic rows of a point", next(found), rows[c])


@check("symbolic-functions", "the ready-made functions equal the numbers to 1e-10", "symbolic", "energy")
def symbolic_functions(subject: Subject) -> None:
    s = _Symbols(subject)
    functions = s.expressions.functions()
    absent = [name for name in _FUNCTIONS if name not in functions]
    expect(not absent, f"functions() lacks {', '.join(absent)}")
    for state in s.probe.states:
        _close("function mass", np.array(functions["mass"](state.q)), s.probe.mass(state))
        force = functions["force"](state.q, state.v, s.probe.inputs)
        _close("function force", np.array(force), s.probe.force(state))
        energies = functions["energy"](state.q, state.v)
        _close(
            "function energy",
            np.array([float(each) for each in energies]),
            np.array(s.probe.model.compute_energies(state)),
        )
        position, rotation = s.probe.poses(state)
        x, R = functions["poses"](state.q)
        _close("function poses: position", np.array(x).T, position)
        _close("function poses: rotation", np.array(R), np.hstack(list(rotation)))


@check(
    "symbolic-parameters",
    "the options' own numbers as symbols change nothing, other numbers change the equations",
    "symbolic",
    "symbolic-parameters",
)
def symbolic_parameters(subject: Subject) -> None:
    s = _Symbols(subject)
    parameters = s.expressions.parameters
    if not parameters and subject.options:
        # a tree of rigid links has no material; what the model is without options must name some
        s = _Symbols(evolve(subject, options={}, states=None))
        expect(bool(s.expressions.parameters), "`parameters` names none, nor does it by default")
        raise NotApplicable("`parameters` names none with these options")
    expect(bool(parameters), "`parameters` names none")
    symbols = {name: s.casadi.SX.sym(name) for name in parameters}
    expressions = s.expressions.with_parameters(symbols)
    sought = [s.q, s.v, s.u, s.casadi.vertcat(*symbols.values())]
    both = s.casadi.vertcat(s.casadi.reshape(expressions.mass(s.q), -1, 1), expressions.force(s.q, s.v, s.u))
    own = np.array([each.value for each in parameters.values()])
    state = s.probe.states[0]
    numbers = [state.q, state.v, s.probe.inputs]
    wanted = np.concatenate([s.probe.mass(state).T.ravel(), s.probe.force(state)])
    found, slopes = s.evaluator(sought, both, s.casadi.jacobian(both, sought[-1]))(*numbers, own)
    _close("mass and force with the options' numbers", found, wanted)
    idle = [name for name, slope in zip(parameters, slopes.T, strict=True) if not np.any(slope)]
    expect(not idle, f"mass and force do not depend on {', '.join(idle)}")


@check(
    "symbolic-constraints",
    "bilateral rows as expressions equal the numbers to 1e-10",
    "constraints",
    "symbolic-constraints",
)
def symbolic_rows(subject: Subject) -> None:
    s = _Symbols(subject)
    evaluate = s.evaluator([s.q, s.v, s.u], *s.expressions.constraints(s.q, s.v, s.u))
    for state in s.probe.states:
        rows = s.probe.model.new_constraints()
        s.probe.model.compute_constraints(state, s.probe.inputs, rows)
        wanted = (
            rows.to_dense(len(state.v)),
            np.where(rows.is_velocity_level, 0.0, rows.position_error),
            np.where(rows.is_velocity_level, rows.target_rate, 0.0),
        )
        found = evaluate(state.q, state.v, s.probe.inputs)
        for what, each, numbers in zip(("J_b", "c of rows", "u of rows"), found, wanted, strict=True):
            _close(f"symbolic {what}", each, numbers)


SYMBOLIC: tuple[Check, ...] = (
    symbolic_dynamics, symbolic_energy, symbolic_points, symbolic_functions, symbolic_parameters, symbolic_rows,
)  # fmt: skip
"""Checks of the abilities `symbolic`, `symbolic-parameters` and `symbolic-constraints`."""
