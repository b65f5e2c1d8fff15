"""What the kernel costs a step, beyond the calls into plugins and linear algebra that the step needs anyway.

For one body, the time of `Simulation.step` less that of a hand-written loop that makes the same calls:

    free     a still body of 6 velocities with a dense M, K, D; semi-implicit Euler, no contact
    swing    the reference double pendulum, the same
    touch    the still body with one contact, whose detector and solver answer at once too
    rest     a point mass on a plane: detection, one contact row block, impulses

What the integrator itself does, the length of the step and its report, is on both sides, and the loop calls the same
compiled kernels: margins, tangents, stabilisation and warm starts are in it too.
Still components answer in a fraction of a microsecond, so that what remains is the kernel's own. Between calls into
NumPy, which the reference models in `swing` and `rest` are written in, the same lines find the processor's caches and
its guesses of branches cold, and take a little longer; the reference detector and solver are compiled loops. Then
the memory that NumPy holds is counted before and after a thousand further steps.

    python benchmarks/kernel_overhead.py [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any, final

import numpy as np

from corekit.data.contacts import Candidates, ContactSet
from corekit.data.state import State
from corekit.data.status import SolveInfo, StepReport
from corekit.engine.bodies.assembly_kernels import assemble_bands, assemble_blocks
from corekit.engine.contact.contact_kernels import (
    add_rows,
    assign_tangents_and_friction,
    collect_material_points,
    gap_terms,
    match_by_id,
)
from corekit.geometry.shapes import Shape
from corekit.linalg.cholesky import add_impulse_response, forward_substitute
from corekit.linalg.factorisation import BlockFactorisation, make_factorisation
from corekit.linalg.matrices import Dense, Matrix, widest
from corekit.roles.collision_scene import max_probe_displacement, update_shape_poses
from corekit.roles.component import BuildContext
from corekit.roles.contact import ImpulseSolver, StepProblem
from corekit.roles.contact_blocks import ReducedStepProblem
from corekit.roles.detector import ContactDetector
from corekit.roles.integrator import next_step
from corekit.roles.model import Coordinate, Model, ModelDescription, Outline
from corekit.simulation.loop import Simulation
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

H, N = 1e-3, 6
SOLVED = SolveInfo()


@final
class StillBody(Model):
    """Constant matrices and force, written once; every call returns at once."""

    def __init__(self) -> None:
        entries = tuple(Coordinate(f"x{i}", "m") for i in range(N))
        self.layout_ = ModelDescription(
            coordinates=entries, velocities=entries, frames=("origin",),
            shapes=(Shape("sphere", (0.1,)),), jacobian_width=N
        )  # fmt: skip

    @property
    def description(self) -> ModelDescription:
        return self.layout_

    def compute_initial_state(self, initial: Any, out: State) -> None:
        pass

    def new_mass_matrix(self) -> Matrix:
        matrix = Dense(N)
        matrix.data[:] = np.eye(N)
        return matrix

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        return self.new_mass_matrix(), self.new_mass_matrix()

    def compute_mass_and_force(self, state: State, inputs: Any, mass: Matrix, force: Any) -> None:
        pass

    def compute_stiffness_and_damping(
        self, state: State, inputs: Any, stiffness: Matrix, damping: Matrix
    ) -> None:
        pass

    def integrate(self, start: State, velocity: Any, step: float, previous: State, out: State) -> None:
        pass

    def compute_frame_poses(self, state: State, position: Any, rotation: Any) -> None:
        pass

    def compute_point_jacobians(self, state: State, frame: Any, local: Any, dofs: Any, values: Any) -> None:
        if not values[0, 2, 2]:
            dofs[0], values[0, :, :3] = np.arange(N), np.eye(3)

    def compute_outline(self, state: State) -> Outline:
        return Outline(np.zeros((1, 3)), np.zeros(1))


@final
class StillDetector(ContactDetector):
    """One contact of the first body's sphere with the plane, found at once."""

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset({("sphere", "half-space")})

    def prepare(self, table: Any, served: frozenset[tuple[str, str]]) -> None:
        pass

    def find_candidates(self, poses: Any, margin: float, out: Candidates) -> None:
        out.count = 1

    def compute_contacts(self, candidates: Candidates, poses: Any, margin: float, out: ContactSet) -> None:
        out.count = 1
        if out.frame[0, 0]:
            out.frame[0, 0], out.weight[0, 0], out.normal[0], out.shape[0] = 0, 1.0, (0.0, 0.0, 1.0), (0, 1)


@final
class StillSolver(ImpulseSolver):
    """Leaves the guess."""

    def solve(self, problem: StepProblem, impulse: Any) -> SolveInfo:
        return SOLVED


def hand_written_free(model: Any) -> Callable[[], StepReport]:
    """One step of semi-implicit Euler without contact, with nothing but the calls it needs."""
    n = len(model.description.velocities)
    now, then = State.zeros(n, n), State.zeros(n, n)
    model.compute_initial_state(None, now)
    mass, (stiffness, damping) = model.new_mass_matrix(), model.new_stiffness_and_damping()
    matrix, force, rhs, inputs, still = Dense(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    nothing = np.zeros(0)
    solver = make_factorisation(matrix, symmetric=False)
    M, D, K, A = (each.data[np.newaxis] for each in (mass, damping, stiffness, matrix))

    def step() -> StepReport:
        nonlocal now, then
        h, then.time = next_step(H, now.time, now.time + H)
        model.compute_mass_and_force(now, inputs, mass, force)
        model.compute_stiffness_and_damping(now, inputs, stiffness, damping)
        v = now.v
        assemble_blocks(M, D, K, force, v, v, v, still, h, 1.0, h, h * h, False, A, rhs)
        solver.refactor(matrix, None)
        solver.solve(rhs, nothing, then.v, nothing)
        then.v += v
        model.integrate(now, then.v, H, now, then)
        now, then = then, now
        return StepReport(accepted=True, step_size=h, solve_info=SOLVED)

    return step


def hand_written_rest(
    model: Any, detector: ContactDetector, solver: ImpulseSolver, simulation: Simulation
) -> Callable[[], StepReport]:
    """One step of a body that touches a plane, all that the kernel does for it written straight down.

    Args:
        model, detector, solver: the components.
        simulation: their world, never stepped, for its shapes.
    """
    n = len(model.description.velocities)
    now, then = State.zeros(n, n), State.zeros(n, n)
    model.compute_initial_state(None, now)
    mass, (stiffness, damping) = model.new_mass_matrix(), model.new_stiffness_and_damping()
    matrix, force, rhs, inputs = widest(mass, stiffness, damping), np.zeros(n), np.zeros(n), np.zeros(n)
    nothing, still = np.zeros(0), np.zeros(n)
    linear = make_factorisation(matrix)
    assert isinstance(linear, BlockFactorisation)
    dense = isinstance(matrix, Dense)
    assemble: Any = assemble_blocks if dense else assemble_bands
    masses, dampings, stiffnesses, entries = (
        each.data[np.newaxis] if dense else each.data.reshape(n, -1)
        for each in (mass, damping, stiffness, matrix)
    )
    pipeline = simulation.system.pipeline
    assert pipeline is not None
    scene, table, poses = pipeline.scene, pipeline.scene.table, pipeline.scene.poses
    surface, pair = np.zeros(len(table), dtype=np.int64), np.full((1, 1), 0.5)
    near, contacts, radius = Candidates(), ContactSet(), np.full(1, 0.1)
    frames, ends = np.array([0, 1]), np.zeros(1, dtype=np.int64)
    contact, slot, frame = np.zeros((3, 1), dtype=np.int64)
    local, dofs, values = np.zeros((1, 3)), np.zeros((1, n), dtype=np.int64), np.zeros((1, 3, n))
    known_id, known, impulse = np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(3)
    before, probes = np.zeros((4, 3)), scene.new_probes()
    jacobian, bias, half, delassus = np.zeros((3, n)), np.zeros((1, 3)), np.zeros((n, 3)), np.zeros((3, 3))
    earlier = -H

    def step() -> StepReport:
        nonlocal now, then, before, probes, earlier, known_id, known, impulse
        h, time = next_step(H, now.time, now.time + H)
        v = now.v
        model.compute_frame_poses(now, poses.frame_position, poses.frame_rotation)
        update_shape_poses(
            table.frame, table.offset_position, table.offset_rotation, False, table.second_frame, poses.frame_position,
            poses.frame_rotation, poses.position, poses.rotation, poses.end,
        )  # fmt: skip
        moved = max_probe_displacement(poses.frame_position, poses.frame_rotation, radius, before, probes)
        speed = moved / (now.time - earlier)
        margin = max(1e-3, 2.0 * h * speed)
        detector.find_candidates(poses, margin + h * speed, near)
        contacts.count = 0
        detector.compute_contacts(near, poses, margin, contacts)
        model.compute_mass_and_force(now, inputs, mass, force)
        model.compute_stiffness_and_damping(now, inputs, stiffness, damping)
        assemble(masses, dampings, stiffnesses, force, v, v, v, still, h, 1.0, h, h * h, True, entries, rhs)
        assign_tangents_and_friction(
            1, False, still[:3], surface, pair, known_id, known_id[:0], known, contacts.id, contacts.shape,
            contacts.gap, contacts.normal, contacts.tangent, contacts.friction,
        )  # fmt: skip
        collect_material_points(
            1, frames, contacts.frame, contacts.local_point, ends, contact, slot, frame, local
        )
        model.compute_point_jacobians(now, frame, local, dofs, values)
        jacobian.fill(0.0)
        add_rows(
            3,
            0,
            contact,
            slot,
            contact,
            contacts.weight,
            contacts.normal,
            contacts.tangent,
            dofs,
            values,
            jacobian,
        )
        gap_terms(
            1, contacts.id, contacts.gap, still[:1], h, 1.0, 20.0, 0.5, contacts.id[:1], contacts.id[:0],
            contacts.gap, bias, np.empty(1), np.empty(1), np.empty(1),
        )  # fmt: skip
        guess = np.zeros(3)
        match_by_id(3, contacts.id, known_id, known_id[:0], impulse, guess)
        linear.refactor(matrix, None)
        linear.solve(rhs, nothing, then.v, nothing)
        then.v += v
        free = bias.ravel().copy()
        forward_substitute(linear.lower_factor, linear.prescribed, jacobian, 0, then.v, free, half)
        np.dot(half.T, half, out=delassus)
        problem = ReducedStepProblem(
            3, h, free, delassus, 1, contacts.id[:1], contacts.gap[:1], contacts.friction[:1]
        )
        info = solver.solve(problem, guess)
        add_impulse_response(linear.lower_factor, linear.prescribed, half, 0, guess, linear.scratch, then.v)
        model.integrate(now, then.v, h, now, then)
        then.time = time
        earlier, impulse = now.time, guess
        known_id, known = contacts.id[:1].copy(), contacts.tangent[:1].copy()
        before, probes = probes, before
        now, then = then, now
        return StepReport(accepted=info.status.solved, step_size=h, solve_info=info)

    return step


def cases() -> dict[str, tuple[Simulation, Callable[[], StepReport]]]:
    """Every case: the simulation and its hand-written twin."""

    def integrator() -> SemiImplicitEuler:
        return SemiImplicitEuler(None, BuildContext(step=H))

    still = StillBody()
    swing = Pendulum(
        PendulumConfig(lengths=(1.0, 0.7), masses=(1.0, 0.5), angles=(1.0, 0.4), rates=(0.0, 0.0))
    )

    def touching(model: Any, detector: Any, solver: Any) -> tuple[Any, Any, Any, Simulation]:
        abilities = frozenset({"force-derivatives", "point-jacobian"})
        world = small_world(
            {"body": model}, integrator(), step=H, solver=solver, detector=detector, obstacles=[floor()], friction=0.5,
            abilities=abilities,
        )  # fmt: skip
        return model, detector, solver, world

    def touch() -> tuple[Any, Any, Any, Simulation]:
        return touching(StillBody(), StillDetector(), StillSolver())

    def rest() -> tuple[Any, Any, Any, Simulation]:
        ball = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.1),), shape="sphere"))
        return touching(ball, ReferenceDetector(), ProjectedGaussSeidel())

    return {
        "free": (
            small_world({"still": still}, integrator(), step=H, abilities=frozenset({"force-derivatives"})),
            hand_written_free(still),
        ),
        "swing": (small_world({"swing": swing}, integrator(), step=H), hand_written_free(swing)),
        "touch": (touch()[3], hand_written_rest(*touch())),
        "rest": (rest()[3], hand_written_rest(*rest())),
    }


def microseconds(step: Callable[[], Any], count: int = 60) -> float:
    """Mean of `count` calls [µs]."""
    start = time.perf_counter()
    for _ in range(count):
        step()
    return 1e6 * (time.perf_counter() - start) / count


def compare(mine: Callable[[], Any], twin: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Least times [µs] of both over many short alternating rounds, with the collector off.

    Short rounds find the moments in which nothing else disturbs the machine.
    """
    gc.collect()
    gc.disable()
    try:
        pairs = [(microseconds(mine), microseconds(twin)) for _ in range(rounds)]
    finally:
        gc.enable()
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def numpy_bytes_kept(step: Callable[[], Any], count: int = 1000) -> tuple[int, int]:
    """NumPy data [bytes] that is held after `count` steps beyond that after the first, and the peak in between."""
    domain = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    step()
    tracemalloc.start()
    try:
        step()
        before = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([domain]).traces)
        for _ in range(count):
            step()
        after = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([domain]).traces)
        tracemalloc.reset_peak()
        held = tracemalloc.get_traced_memory()[0]
        step()
        peak = tracemalloc.get_traced_memory()[1] - held
    finally:
        tracemalloc.stop()
    return after - before, peak


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="kernel overhead of a step, one body")
    parser.add_argument("--json", action="store_true", help="print numbers for machines")
    parser.add_argument("--rounds", type=int, default=250)
    arguments = parser.parse_args()
    report: dict[str, dict[str, float]] = {}
    for name, (simulation, twin) in cases().items():
        for _ in range(200):
            simulation.step()
            twin()
        mine, bare = compare(simulation.step, twin, arguments.rounds)
        kept, peak = numpy_bytes_kept(simulation.step)
        report[name] = {
            "ratio": mine / bare, "step": mine, "calls": bare, "overhead": mine - bare, "kept": kept, "peak": peak,
        }  # fmt: skip
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    print("case     step [µs]  its calls [µs]  overhead [µs]  NumPy bytes kept")
    for name, row in report.items():
        print(
            f"{name:8s} {row['step']:9.1f} {row['calls']:15.1f} {row['overhead']:14.1f} {int(row['kept']):17d}"
        )


if __name__ == "__main__":
    main()
