"""Piles of many bodies: islands of contacts are solved one by one, and what lies below carries what lies above."""

import itertools
import sys
from typing import Any

import numpy as np
import pytest

from corekit.roles.contact_blocks import multiply_blocks
from corekit.scenario.load import from_document
from corekit_cone import block_search
from corekit_cone.block_search import BlockSearch
from corekit_cone.cone import ConeContact
from corekit_qp.programs import ReducedProgram

STEP, EDGE, MASS, GRAVITY = 1e-3, 0.1, 2.0, 9.81
EPS = np.finfo(float).eps


def columns(count, height, solver="cone", gap=0.02, integrator="semi-implicit-euler", jitter=0.0, **options):
    """Columns of boxes on a floor, side by side and at rest, each off its place by up to `jitter` sideways [m]."""
    places = np.array(
        [((EDGE + gap) * i, 0.0, (0.5 + j) * EDGE) for i in range(count) for j in range(height)]
    )
    places[:, :2] += jitter * np.random.default_rng(0).uniform(-1.0, 1.0, (len(places), 2))
    bodies = [
        {
            "name": f"box{k}",
            "use": "rigid",
            "options": {"shape": "box", "size": [EDGE] * 3, "mass": MASS},
            "initial": {"position": place.tolist()},
        }
        for k, place in enumerate(places)
    ]
    return pile(bodies, solver, integrator, **options)


def pile(bodies, solver="cone", integrator="semi-implicit-euler", **options):
    return from_document(pile_document(bodies, solver, integrator, **options)).compose()


def pile_document(bodies, solver="cone", integrator="semi-implicit-euler", **options):
    return {
        "format": "corekit-scenario/1",
        "name": "columns",
        "time": {"duration": 1.0, "step": STEP},
        "world": {
            "gravity": [0.0, 0.0, -GRAVITY],
            "obstacles": [{"name": "floor", "shape": "half-space", "position": [0.0, 0.0, 0.0]}],
        },
        "bodies": bodies,
        "contact": {
            "friction": 0.5,
            "detector": [{"use": "mpr"}],
            "solver": {"use": solver, "options": options},
        },
        "integrator": {"use": integrator},
        "output": {"every": STEP},
    }


def divide(simulation: Any, least: int) -> None:
    """Solve contacts by islands from so many on."""
    simulation.system.terms.many_contacts = least


def kinetic_energy(simulation):
    return sum(
        body.model.compute_energies(state)[0]
        for body, state in zip(simulation.bodies, simulation.state.body_states, strict=True)
    )


@pytest.mark.parametrize("solver", ["cone", "lcp"])
def test_every_column_carries_its_own_weight(solver):
    count, height = 2, 5
    simulation = columns(count, height, solver)
    for _ in range(5):
        report = simulation.step()
        assert report.solve_info.status.solved
        contacts, floor = simulation.contacts(), count * height
        assert contacts.count == 4 * count * height
        normal = {
            column: contacts.normal_impulse[
                (contacts.shape[:, 1] == floor) & (contacts.shape[:, 0] // height == column)
            ].sum()
            for column in range(count)
        }
        # at rest nothing else acts; residual velocities of 1e-8·g·h change an impulse by as much
        for carried in normal.values():
            assert carried == pytest.approx(height * MASS * GRAVITY * STEP, rel=1e-6)
        assert kinetic_energy(simulation) <= 1e-12 * MASS * GRAVITY * EDGE


def test_a_stack_that_stands_a_little_out_of_line_takes_qp_few_programs(monkeypatch):
    """Ten boxes off by up to 2 mm; corrections that stall would go on to their limit in every step."""
    iterations, solve = [], ReducedProgram.solve_shifted

    def counted(self, solver, shift):
        result = solve(self, solver, shift)
        iterations[-1].append(result.info.iterations)
        return result

    monkeypatch.setattr(ReducedProgram, "solve_shifted", counted)
    simulation = columns(1, 10, "qp", jitter=2e-3)
    for _ in range(15):
        iterations.append([])
        report = simulation.step()
        assert report.solve_info.status.solved
        contacts = simulation.contacts()
        carried = contacts.normal_impulse[contacts.shape[:, 1] == 10].sum()
        assert carried == pytest.approx(10 * MASS * GRAVITY * STEP, rel=1e-6)
    assert max(len(programs) for programs in iterations) <= 3
    # forty contacts of eight directions: from nothing, a program takes up each of its rows about once
    assert max(map(max, iterations)) <= 40 * 8
    # once the boxes rest, those of the last step are active again
    assert np.median([sum(programs) for programs in iterations[-5:]]) <= 10


def test_islands_are_the_problem_itself(monkeypatch):
    """W and w of the blocks are those of the dense problem, contact by contact."""
    simulation, dense, seen = columns(2, 2), columns(2, 2), []

    def watched(self, problem, impulse):
        seen.append(problem)
        return solve(self, problem, impulse)

    solve = ConeContact.solve
    monkeypatch.setattr(ConeContact, "solve", watched)
    divide(simulation, 0)
    divide(dense, sys.maxsize)
    simulation.step()
    islands = list(seen)
    assert len(islands) == 2
    seen.clear()
    dense.step()
    whole = seen[0]
    at = {int(each): c for c, each in enumerate(whole.id)}
    for problem in islands:
        rows = np.concatenate([np.arange(3) + 3 * at[int(each)] for each in problem.id])
        W = whole.delassus()[np.ix_(rows, rows)]
        # two ways to sum 6 products, and forward substitution against its product
        assert abs(problem.delassus() - W).max() <= 100 * EPS * abs(W).max()
        outside = np.setdiff1d(np.arange(len(whole.free_velocity)), rows)
        assert abs(whole.delassus()[np.ix_(rows, outside)]).max() == 0.0
        blocks = problem.blocks()
        impulse, v, w = np.arange(1.0, 1.0 + len(rows)), np.empty(blocks.velocity_count), np.empty(len(rows))
        multiply_blocks(blocks, 3, problem.free_velocity, impulse, v, w)
        expected = W @ impulse + problem.free_velocity
        assert abs(w - expected).max() <= 100 * EPS * len(rows) * abs(W).max() * impulse.max()


def beside_a_hinge_and_a_tendon(solver):
    """Four columns of boxes, a box that leans on another one by a hinge, and a mass that drags a second by a tendon."""
    boxes = [
        {
            "name": f"box{k}",
            "use": "rigid",
            "options": {"shape": "box", "size": [EDGE] * 3, "mass": MASS},
            "initial": {"position": [(EDGE + 0.02) * (k // 2), 0.0, (0.5 + k % 2) * EDGE]},
        }
        for k in range(8)
    ]
    for k, name in enumerate(("frame", "lid")):
        boxes.append(
            {**boxes[0], "name": name, "initial": {"position": [1.0 + 0.11 * k, 0.0, 0.5 * EDGE + 0.001 * k]}}
        )
    chain = {
        "masses": [1.0, 1.0], "positions": [[2.0, 0.0, 0.02], [2.2, 0.0, 0.02]], "shape": "sphere", "radius": 0.02,
        "velocities": [[0.0, 0.0, 0.0], [0.8, 0.0, 0.0]], "links": ["none", "tendon"], "lower": -30.0, "upper": 0.0,
    }  # fmt: skip
    document: dict[str, Any] = dict(pile_document(boxes, solver))
    document["bodies"] = [*boxes, {"name": "chain", "use": "reference-point-chain", "options": chain}]
    document["contact"]["detector"] = [{"use": "mpr"}, {"use": "sdf"}]
    document["joints"] = [
        {"name": "hinge", "kind": "hinge", "between": ["lid.body", "frame.body"], "axis": [0.0, 1.0, 0.0]}
    ]
    return from_document(document).compose()


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_a_pile_beside_a_hinge_and_a_tendon_keeps_its_islands(solver, monkeypatch):
    """Six islands: four columns, the hinged pair, the chain with its bounded row; and the motion of one dense W."""
    both: list[Any] = [beside_a_hinge_and_a_tendon(solver) for _ in range(2)]
    simulation, dense = both
    seen, solve = [], type(simulation.system.solver).solve

    def watched(self, problem, impulse):
        if self is simulation.system.solver:
            seen.append((problem.contact_count, problem.bounded_count))
        return solve(self, problem, impulse)

    monkeypatch.setattr(type(simulation.system.solver), "solve", watched)
    divide(dense, sys.maxsize)
    for _ in range(20):
        seen.clear()
        for each in (simulation, dense):
            assert each.step().solve_info.status.solved
        assert len(seen) == 6
        assert sum(bounded for _, bounded in seen) == 1
        # two boxes on a floor have eight contacts, and so have the boxes of the hinge
        assert sorted(count for count, bounded in seen if not bounded) == [8] * 5
    # rounding of W by blocks and as a whole, grown by the forces of 20 steps; each solver stops at 1e-8 of the speeds
    np.testing.assert_allclose(simulation.state.v, dense.state.v, atol=1e-7)
    np.testing.assert_allclose(simulation.state.q, dense.state.q, atol=1e-8)
    assert simulation.joint_force("hinge").force == pytest.approx(dense.joint_force("hinge").force, abs=1e-3)
    # the tendon pulls at its bound, and both masses slide: their friction is μ·m·g
    first, second = simulation.state.v[-6], simulation.state.v[-3]
    pull, friction, time = 30.0, 0.5 * GRAVITY, 20 * STEP
    assert first == pytest.approx((pull - friction) * time, rel=1e-6)
    assert second == pytest.approx(0.8 - (pull + friction) * time, rel=1e-6)


def wall(rows, length, mass=lambda size: MASS * size / EDGE, joint=0.0):
    """Bricks in running bond, each against its neighbours, with half bricks at the ends of every other row."""
    bodies = []
    for j in range(rows):
        even, odd = np.arange(-0.5, length), np.array([-0.5, *range(length), length - 0.5])
        edges = EDGE * (odd if j % 2 else even)
        for k, (left, right) in enumerate(itertools.pairwise(edges)):
            size = right - left
            bodies.append(
                {
                    "name": f"brick{j}-{k}",
                    "use": "rigid",
                    "options": {
                        "shape": "box",
                        "size": [size - joint, 0.5 * EDGE, 0.5 * EDGE],
                        "mass": mass(size),
                    },
                    "initial": {"position": [0.5 * (left + right), 0.0, (0.5 + j) * 0.5 * EDGE]},
                }
            )
    return bodies


def test_a_ball_thrown_into_a_wall_leaves_few_steps_to_the_dense_search():
    """Bricks that touch, slide and part have modes that differ by micrometres per second.

    One position level is left at 1.5e-7 m/s, and its step says so, whatever the velocity level behind it reached.
    """
    bodies = wall(3, 3, mass=lambda _: 0.1, joint=0.002)
    ball = {"shape": "sphere", "size": [0.8 * EDGE], "mass": 1.0}
    start = {"position": [0.2, -1.1 * EDGE, 0.075], "velocity": [0.0, 3.0, 0.0]}
    simulation = pile([*bodies, {"name": "ball", "use": "rigid", "options": ball, "initial": start}])
    answers, left = [], []
    for _ in range(80):
        info = simulation.step().solve_info
        answers.append(info.answered_by)
        if not info.status.solved:
            left.append(max(info.residuals.normal, info.residuals.friction))
    assert len(left) <= 1
    assert max(left, default=0.0) <= 1e-6
    assert any("compliant" in each for each in answers)
    assert sum("interior-point" in each for each in answers) <= 2


def test_large_patches_that_jam_are_left_until_the_path_was_followed(monkeypatch):
    """Their interior points, which follow 20 sweeps, take twenty times as long as the path for 60 contacts."""
    asked = []

    def keep(_problem, _blocks, patch, impulse, _velocity, _tolerance, sweeps):
        asked.append((int(np.count_nonzero(patch)), sweeps))
        return impulse.reshape(-1, 3)[patch]

    monkeypatch.setattr(block_search, "solve_patch", keep)
    monkeypatch.setattr(BlockSearch, "_follow_path", lambda _: asked.append((0, 0)))
    for method in ("_newton", "_sweep", "_remove_compliance"):
        monkeypatch.setattr(BlockSearch, method, lambda _: None)
    pile(wall(4, 4)).step()
    path = asked.index((0, 0))
    large = [sweeps for contacts, sweeps in asked[:path] if contacts > 32]
    assert large and max(large) < 20
    assert any(contacts > 32 and sweeps > 20 for contacts, sweeps in asked[path + 1 :])


METHODS = ["_newton", "_sweep", "solve_patch", "_remove_compliance", "_follow_path"]


@pytest.mark.parametrize("method", METHODS)
def test_blocks_carry_the_weight_by_every_method_alone(monkeypatch, method):
    """One column of 28 contacts, whose W is kept by blocks; the residual of Coulomb's law is measured here."""
    for other in set(METHODS) - {method}:
        monkeypatch.setattr(BlockSearch, other, lambda *_: None)
    monkeypatch.setattr(block_search, "_IDLE", 100)
    height, simulation = 7, columns(1, 7)
    for _ in range(2):
        report = simulation.step()
        assert report.solve_info.status.solved
        assert "by blocks" in report.solve_info.answered_by
    contacts = simulation.contacts()
    carried = contacts.normal_impulse[contacts.shape[:, 1] == height].sum()
    assert carried == pytest.approx(height * MASS * GRAVITY * STEP, rel=1e-6)
    normal, tangential = contacts.normal_impulse, np.linalg.norm(contacts.tangential_impulse, axis=1)
    assert (normal >= 0.0).all()
    assert (tangential <= 0.5 * normal * (1.0 + 1e-12)).all()
    # the tolerance is relative to the free velocity g·h
    speed = np.linalg.norm(contacts.slip, axis=1)
    assert (np.minimum(0.5 * normal - tangential, speed) <= 1e-6 * GRAVITY * STEP).all()
    assert kinetic_energy(simulation) <= 1e-12 * MASS * GRAVITY * EDGE


def test_a_wall_of_bricks_that_touch_on_all_sides_is_solved_from_nothing():
    """Far more contacts than balance needs: loads are shared in many ways, and faces touch without load."""
    rows, length = 8, 5
    bodies = wall(rows, length)
    simulation = pile(bodies)
    for _ in range(3):
        report = simulation.step()
        assert report.solve_info.status.solved
    contacts = simulation.contacts()
    assert contacts.count > 300
    carried = contacts.normal_impulse[contacts.shape[:, 1] == len(bodies)].sum()
    assert carried == pytest.approx(rows * length * MASS * GRAVITY * STEP, rel=1e-6)
    assert kinetic_energy(simulation) <= 1e-12 * rows * length * MASS * GRAVITY * EDGE


def test_a_large_pile_is_solved_by_sweeps_and_patches(monkeypatch):
    """A column of nine boxes without linear equations of all bodies, with few sweeps."""
    monkeypatch.setattr(block_search, "_DIRECT", 0)
    monkeypatch.setattr(block_search, "_LARGE_ROUNDS", 2)
    monkeypatch.setattr(block_search, "_BETWEEN", 4)
    simulation = columns(1, 9)
    report = simulation.step()
    assert report.solve_info.status.solved
    assert "patches" in report.solve_info.answered_by
    contacts = simulation.contacts()
    carried = contacts.normal_impulse[contacts.shape[:, 1] == 9].sum()
    assert carried == pytest.approx(9 * MASS * GRAVITY * STEP, rel=1e-6)


def test_a_patch_whose_solution_brings_nothing_grows_by_rings_of_neighbours(monkeypatch):
    """A column of thirty boxes, four contacts between two: a ring more is four contacts more at either end."""
    monkeypatch.setattr(block_search, "_DIRECT", 0)
    monkeypatch.setattr(block_search, "_SEEDS", (1,))
    monkeypatch.setattr(block_search, "_MOST_IN_PATCH", 30)
    monkeypatch.setattr(BlockSearch, "_sweep", lambda _: None)
    counts = []

    def keep(_problem, _blocks, patch, impulse, *_):
        counts.append(int(np.count_nonzero(patch)))
        return impulse.reshape(-1, 3)[patch]

    monkeypatch.setattr(block_search, "solve_patch", keep)
    columns(1, 30).step()
    one, two = (counts.index(count) for count in sorted(set(counts))[:2])
    assert two - one == block_search._RING
    assert {b - a for a, b in itertools.pairwise(counts)} <= {0, 4, 8}
    assert counts == sorted(counts)
    assert 22 < counts[-1] <= 30


def test_lemkes_path_ends_where_it_comes_back_to_a_basis():
    """Rounding leads it into cycles on a stack of eight boxes: one went on to the limit of 5000 pivots.

    All paths of a step are counted, up to ten of them.
    """
    simulation = columns(
        1, 8, "lcp", integrator="implicit-euler", lcp_solver="lemke", fallback=[], warm_start=False
    )
    for _ in range(15):
        report = simulation.step()
        assert report.solve_info.status.solved
        assert report.solve_info.iterations < 5000
