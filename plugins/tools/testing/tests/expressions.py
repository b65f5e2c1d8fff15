"""The reference pendulum and the rod of the reference chain in CasADi: sound ones, and each wrong in one thing."""

import casadi

from corekit.roles.symbolic import SymbolicParameter

from .defects import PENDULUM


class SymbolicPendulum:
    """The pendulum's equations in CasADi, beside the numbers of a sound one."""

    def __init__(self, model):
        self.m = model
        self.n = model._count

    def mass(self, q):
        return self.m._inertia * casadi.cos(self._between(q))

    def _between(self, q):
        return casadi.repmat(q, 1, self.n) - casadi.repmat(q.T, self.n, 1)

    def kinetic_energy(self, q, v):
        return 0.5 * casadi.dot(v, self.mass(q) @ v)

    def potential_energy(self, q):
        weight, g = self.m._carried * self.m._length, self.m._gravity
        return -casadi.dot(weight, g[0] * casadi.sin(q) - g[1] * casadi.cos(q))

    def force(self, q, v, inputs):
        centrifugal = (self.m._inertia * casadi.sin(self._between(q))) @ (v * v)
        return inputs - self.m._joint_damping @ v - casadi.gradient(self.potential_energy(q), q) - centrifugal

    def pose(self, q, frame):
        base, x = self.m._base, casadi.DM.zeros(3)
        for i in range(frame + 1):
            x = x + self.m._length[i] * casadi.vertcat(casadi.sin(q[i]), 0, -casadi.cos(q[i]))
        c, s = casadi.cos(q[frame]), casadi.sin(q[frame])
        turn = casadi.vertcat(casadi.horzcat(c, 0, -s), casadi.horzcat(0, 1, 0), casadi.horzcat(s, 0, c))
        return base.position + base.rotation @ x, base.rotation @ turn

    def point(self, q, frame, local):
        position, rotation = self.pose(q, frame)
        return position + rotation @ local

    def point_jacobian(self, q, frame, local):
        return casadi.jacobian(self.point(q, frame, local), q)

    def functions(self):
        q, v, u = (casadi.SX.sym(name, self.n) for name in "qvu")
        poses = [self.pose(q, i) for i in range(self.n)]
        x, turns = casadi.horzcat(*[p for p, _ in poses]), casadi.horzcat(*[r for _, r in poses])
        return {
            "mass": casadi.Function("mass", [q], [SymbolicPendulum.mass(self, q)]),
            "force": casadi.Function("force", [q, v, u], [SymbolicPendulum.force(self, q, v, u)]),
            "energy": casadi.Function("energy", [q, v], self._energies(q, v)),
            "poses": casadi.Function("poses", [q], [x, turns]),
        }

    def _energies(self, q, v):
        kinetic = 0.5 * casadi.dot(v, SymbolicPendulum.mass(self, q) @ v)
        return [kinetic, SymbolicPendulum.potential_energy(self, q)]


class WrongMass(SymbolicPendulum):
    def mass(self, q):
        return 1.000001 * super().mass(q)

    def kinetic_energy(self, q, v):
        return 0.5 * casadi.dot(v, SymbolicPendulum.mass(self, q) @ v)


class WrongForce(SymbolicPendulum):
    def force(self, q, v, inputs):
        return super().force(q, v, inputs) + 1e-8


class WrongEnergy(SymbolicPendulum):
    def kinetic_energy(self, q, v):
        return 1.000001 * super().kinetic_energy(q, v)


class WrongPoint(SymbolicPendulum):
    def point(self, q, frame, local):
        return super().point(q, frame, local) + 1e-8


class WrongRows(SymbolicPendulum):
    def point_jacobian(self, q, frame, local):
        return super().point_jacobian(q, frame, local) + 1e-8


class WrongFunctions(SymbolicPendulum):
    def functions(self):
        found = super().functions()
        return {**found, "mass": found["force"]}


class TooFewFunctions(SymbolicPendulum):
    def functions(self):
        found = super().functions()
        del found["poses"]
        return found


class DampedPendulum(SymbolicPendulum):
    """Its damping may be a symbol."""

    share = 1.0

    @property
    def parameters(self):
        return {"damping": SymbolicParameter("N·m·s/rad", PENDULUM["damping"])}

    def with_parameters(self, values):
        twin = type(self)(self.m)
        twin.share = values["damping"] / PENDULUM["damping"]
        return twin

    def force(self, q, v, inputs):
        return super().force(q, v, inputs) + (1.0 - self.share) * (self.m._joint_damping @ v)


class NoParameters(DampedPendulum):
    @property
    def parameters(self):
        return {}


class DeafPendulum(DampedPendulum):
    def with_parameters(self, values):
        return self


class OtherDamping(DampedPendulum):
    @property
    def parameters(self):
        return {"damping": SymbolicParameter("N·m·s/rad", 1.001 * PENDULUM["damping"])}


PARAMETERS = [
    (DampedPendulum, ()),
    (NoParameters, ("symbolic-parameters",)),
    (DeafPendulum, ("symbolic-parameters",)),
    (OtherDamping, ("symbolic-parameters",)),
]
"""Expressions with options as symbols, and the checks that each must fail."""


class RodRows:
    """The row of the chain's rod in CasADi."""

    def __init__(self, model):
        self.m = model

    def constraints(self, q, v, inputs):
        span = q[3:6] - q[:3]
        length = casadi.norm_2(span)
        J = casadi.horzcat(-span.T, span.T) / length
        return J, length - float(self.m._length[1]), casadi.DM.zeros(1)


class LongerRod(RodRows):
    def constraints(self, q, v, inputs):
        J, c, u = super().constraints(q, v, inputs)
        return J, c + 1e-8, u


class TurnedRod(RodRows):
    def constraints(self, q, v, inputs):
        J, c, u = super().constraints(q, v, inputs)
        return -J, c, u


class RunningRod(RodRows):
    def constraints(self, q, v, inputs):
        J, c, _ = super().constraints(q, v, inputs)
        return J, c, inputs[0]


ROWS = [
    (RodRows, ()),
    (LongerRod, ("symbolic-constraints",)),
    (TurnedRod, ("symbolic-constraints",)),
    (RunningRod, ("symbolic-constraints",)),
]
"""The same of the rows of rods."""

SYMBOLIC = [
    (SymbolicPendulum, ()),
    (WrongMass, ("symbolic-dynamics",)),
    (WrongForce, ("symbolic-dynamics",)),
    (WrongEnergy, ("symbolic-energy",)),
    (WrongPoint, ("symbolic-points",)),
    (WrongRows, ("symbolic-points",)),
    (WrongFunctions, ("symbolic-functions",)),
    (TooFewFunctions, ("symbolic-functions",)),
]
"""The same of the equations of motion."""
