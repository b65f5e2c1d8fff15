"""An independent arm: matrix exponentials of section twists, differentiated by complex steps."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_pcc.config import PCCConfig
from corekit_pcc.model import PCC
from corekit_testing.rounding import rounding


def exponential(twist: np.ndarray) -> np.ndarray:
    """exp of (…, 4, 4) matrices by Taylor's series, scaled and squared; real or complex."""
    small, total = twist / 64, np.eye(4) + np.zeros_like(twist)
    term = total
    for k in range(1, 12):
        term = term @ small / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


class ReferenceArm:
    """Positions and energies of an arm from exponentials of 4×4 twists, one section after the other.

    A section of length L and bending b maps arc position s to exp(s·ξ), ξ = [[hat(ω), L·e_z], [0, 0]] with
    ω = (−b_y, b_x, 0). Coordinates go to (L, b) through least squares on the chamber elongations.
    """

    def __init__(self, config: PCCConfig, base: Pose, gravity: np.ndarray) -> None:
        self.config, self.gravity = config, gravity
        self.base = np.eye(4)
        self.base[:3, :3], self.base[:3, 3] = base.rotation, base.position

    def section_twist(self, i: int, x: np.ndarray) -> np.ndarray:
        c, r = self.config.spread("chambers")[i], self.config.spread("chamber_radius")[i]
        psi = self.config.spread("chamber_angle")[i] + 2 * np.pi * np.arange(c) / c
        if c == 3:
            design = np.column_stack([np.ones(3), -r * np.cos(psi), -r * np.sin(psi)])
            extension, bx, by = np.linalg.solve(design, x)
        else:
            extension, bx, by = x[0], x[1] / r, x[2] / r
        twist = np.zeros((4, 4), dtype=np.asarray(x).dtype)
        twist[0, 2], twist[2, 0], twist[1, 2], twist[2, 1] = bx, -bx, by, -by
        twist[2, 3] = self.config.spread("length")[i] + extension
        return twist

    def pose(self, q: np.ndarray, section: int, s) -> np.ndarray:
        """World pose of the section's point at s, shape (4, 4), or (k, 4, 4) for k values of s."""
        total = self.base.astype(q.dtype)
        for i in range(section):
            plate = np.eye(4)
            plate[2, 3] = self.config.spread("plate_thickness")[i]
            total = total @ exponential(self.section_twist(i, q[3 * i : 3 * i + 3])) @ plate
        twist = self.section_twist(section, q[3 * section : 3 * section + 3])
        return total @ exponential(np.multiply.outer(s, twist))

    def derivative(self, function, q: np.ndarray) -> np.ndarray:
        """Exact derivative by complex steps, stacked along the last axis."""
        step = 1e-30
        return np.stack([np.imag(function(q + 1j * step * e)) / step for e in np.eye(q.size)], axis=-1)

    def rounding(self, found: np.ndarray) -> float:
        """Bound of the rounding of what follows from poses; an exponential is a product of 64 matrices."""
        return rounding(4 * 64 * self.config.sections, max(1.0, float(np.abs(found).max())))

    def mass(self, q: np.ndarray, nodes: int) -> np.ndarray:
        """Hessian of the kinetic energy, `nodes` Gauss points a section, rotary inertia from ω of the disks."""
        points, weights = np.polynomial.legendre.leggauss(nodes)
        M = np.zeros((q.size, q.size))
        for i, mass in enumerate(self.config.spread("mass")):
            J = self.derivative(lambda z, i=i: self.pose(z, i, (points + 1) / 2)[:, :3, 3], q)
            M += mass * np.einsum("k,kxa,kxb->ab", weights / 2, J, J)
            inertia, inside = self.config.spread("disk_inertia")[i], self.config.spread("disks")[i]
            for s in np.arange(1, inside + 2) / (inside + 1) if inertia else ():
                R = self.pose(q, i, s)[:3, :3]
                rates = self.derivative(lambda z, i=i, s=s: self.pose(z, i, s)[:3, :3], q)
                spin = np.einsum("ijn,kj->ikn", rates, R)
                W = np.stack([spin[2, 1], spin[0, 2], spin[1, 0]])
                M += W.T @ R @ np.diag([inertia, inertia, 2 * inertia]) @ R.T @ W
        return M

    def weight_potential(self, q: np.ndarray, nodes: int) -> complex:
        """−Σ m·g·x with `nodes` Gauss points a section."""
        points, weights = np.polynomial.legendre.leggauss(nodes)
        heights = [
            mass * weights / 2 @ self.pose(q, i, (points + 1) / 2)[:, :3, 3]
            for i, mass in enumerate(self.config.spread("mass"))
        ]
        return -np.sum(heights, axis=0) @ self.gravity


ARMS = {
    "paper": {},
    "one section": {"sections": 1, "mass": 0.8},
    "two sections, four and five chambers": {
        "sections": 2,
        "mass": 0.6,
        "chambers": (4, 5),
        "chamber_angle": 0.4,
    },
    "five sections, six chambers": {"sections": 5, "mass": 0.3, "chambers": 6, "disks": 1},
    "plates and rotary inertia": {
        "plate_thickness": (0.01, 0.02, 0.03),
        "disk_inertia": (3e-3, 0.0, 1e-3),
        "disks": (1, 2, 0),
        "mass_nodes": 4,
    },
}


@pytest.fixture(params=list(ARMS))
def options(request) -> dict:
    """Options of one of a few different arms."""
    return ARMS[request.param]


@pytest.fixture
def context() -> BuildContext:
    """A base that is turned and moved, and gravity along no axis."""
    base = Pose(np.array([0.4, -0.3, 0.2]), rotation_from_rpy((0.3, -0.9, 2.0)))
    return BuildContext(base=base, gravity=np.array([1.5, -2.0, -9.0]))


@pytest.fixture
def build(context):
    """Make a model and its independent twin from options."""

    def make(**options) -> tuple[PCC, ReferenceArm]:
        config = PCCConfig(**options)
        return PCC(config, context), ReferenceArm(config, context.base, context.gravity)

    return make


@pytest.fixture
def moving():
    """Make a bent, stretched, moving state of a model, and inputs."""

    def make(model: PCC, seed: int = 0, bend: float = 0.02, speed: float = 0.3) -> tuple[State, np.ndarray]:
        random = np.random.default_rng(seed)
        n = len(model.description.coordinates)
        state = State.zeros(n, n)
        state.q[:] = random.normal(size=n) * bend
        state.v[:] = random.normal(size=n) * speed
        return state, random.normal(size=model.description.input_size) * 10

    return make


@pytest.fixture
def evaluate():
    """M and f of a model at a state, as new arrays."""

    def run(model: PCC, state: State, inputs=None) -> tuple[np.ndarray, np.ndarray]:
        mass, force = model.new_mass_matrix(), np.zeros(state.v.size)
        model.compute_mass_and_force(
            state, np.zeros(model.description.input_size) if inputs is None else inputs, mass, force
        )
        return mass.data, force

    return run
