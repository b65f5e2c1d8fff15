"""A model from energies as expressions for planners and estimators: abilities `symbolic`, `symbolic-parameters`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import casadi as ca

from corekit.roles.symbolic import SymbolicParameter
from corekit_lagrangian.equations import Equations

__all__ = ["SymbolicEquations"]


@final
class SymbolicEquations:
    """The equations with other arguments; options are numbers, or what `with_parameters` gave.

    Args:
        parameters: those of the options that are symbols in the equations, in order.
        values: expressions in place of the numbers of some.
    """

    def __init__(
        self,
        equations: Equations,
        parameters: Mapping[str, SymbolicParameter],
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self._equations, self.parameters = equations, parameters
        self._values = dict(values or {})
        given = [self._values.get(name, each.value) for name, each in parameters.items()]
        self._given = ca.vertcat(*given) if given else ca.DM(0, 1)

    def with_parameters(self, values: Mapping[str, Any]) -> SymbolicEquations:
        """The same model with expressions instead of the options' numbers."""
        return SymbolicEquations(self._equations, self.parameters, {**self._values, **values})

    def _substitute(self, expression: Any, q: Any, v: Any = None, u: Any = None) -> Any:
        own = self._equations
        arguments = [own.q, own.v, own.u, own.p]
        given = [q, own.v * 0 if v is None else v, own.u * 0 if u is None else u, self._given]
        if any(isinstance(each, ca.MX) for each in given):
            given = [
                ca.MX(each) if not isinstance(each, ca.SX) else ca.DM.zeros(each.shape) for each in given
            ]
        return ca.Function("equations", arguments, [expression])(*given)

    def mass(self, q: Any) -> Any:
        """M, shape (n, n)."""
        return self._substitute(self._equations.mass, q)

    def force(self, q: Any, v: Any, inputs: Any) -> Any:
        """f, shape (n, 1)."""
        return self._substitute(self._equations.force, q, v, inputs)

    def kinetic_energy(self, q: Any, v: Any) -> Any:
        """T [J]."""
        return self._substitute(self._equations.kinetic, q, v)

    def potential_energy(self, q: Any) -> Any:
        """V [J]."""
        return self._substitute(self._equations.potential, q)

    def pose(self, q: Any, frame: int) -> tuple[Any, Any]:
        """World position (3, 1) [m] and rotation (3, 3) of a frame."""
        own = self._equations
        return self._substitute(own.positions[frame], q), self._substitute(own.rotations[frame], q)

    def point(self, q: Any, frame: int, local: Any) -> Any:
        """World position (3, 1) [m] of a point fixed in a frame."""
        position, rotation = self.pose(q, frame)
        return position + rotation @ local

    def point_jacobian(self, q: Any, frame: int, local: Any) -> Any:
        """J of that point, shape (3, n)."""
        own = self._equations
        jacobian = self._substitute(ca.jacobian(own.positions[frame], own.q), q)
        for k in range(3):
            jacobian += local[k] * self._substitute(ca.jacobian(own.rotations[frame][:, k], own.q), q)
        return jacobian

    def functions(self) -> dict[str, Any]:
        """CasADi Functions by name: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → p (3, f), R."""
        own = self._equations
        q, v, u = (ca.SX.sym(name, each.numel()) for name, each in (("q", own.q), ("v", own.v), ("u", own.u)))
        poses = [self.pose(q, frame) for frame in range(len(own.positions))]
        positions = ca.horzcat(*[position for position, _ in poses])
        rotations = ca.horzcat(*[rotation for _, rotation in poses])
        energies = [self.kinetic_energy(q, v), self.potential_energy(q)]
        return {
            "mass": ca.Function("mass", [q], [self.mass(q)], ["q"], ["M"]),
            "force": ca.Function("force", [q, v, u], [self.force(q, v, u)], ["q", "v", "u"], ["f"]),
            "energy": ca.Function("energy", [q, v], energies, ["q", "v"], ["kinetic", "potential"]),
            "poses": ca.Function("poses", [q], [positions, rotations], ["q"], ["position", "rotation"]),
        }
