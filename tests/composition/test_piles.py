"""Piles of many bodies: islands of contacts are solved one by one, and what lies below carries what lies above."""

import numpy as np
import pytest

from corekit.dynamics import contact_problem
from corekit.roles.contact_blocks import multiply_blocks
from corekit.scenario.load import from_document
from corekit_cone import block_search, body_order
from corekit_cone.cone import ConeContact

STEP, EDGE, MASS, GRAVITY = 1e-3, 0.1, 2.0, 9.81
EPS = np.finfo(float).eps


def columns(count, height, solver="cone", gap=0.02):
    """Columns of boxes on a floor, side by side and at rest."""
    places = [((EDGE + gap) * i, 0.0, (0.5 + j) * EDGE) for i in range(count) for j in range(height)]
    bodies = [
        {
            "name": f"box{k}",
            "use": "rigid",
            "options": {"shape": "box", "size": [EDGE] * 3, "mass": MASS},
            "initial": {"position": list(place)},
        }
        for k, place in enumerate(places)
    ]
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "columns",
            "time": {"duration": 1.0, "step": STEP},
            "world": {
                "gravity": [0.0, 0.0, -GRAVITY],
                "obstacles": [{"name": "floor", "shape": "half-space", "position": [0.0, 0.0, 0.0]}],
            },
            "bodies": bodies,
            "contact": {"friction": 0.5, "detector": [{"use": "mpr"}], "solver": {"use": solver}},
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": STEP},
        }
    ).compose()


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


def test_islands_are_the_problem_itself(monkeypatch):
    """W and w of the blocks are those of the dense problem, contact by contact."""
    simulation, dense, seen = columns(2, 2), columns(2, 2), []

    def watched(self, problem, impulse):
        seen.append(problem)
        return solve(self, problem, impulse)

    solve = ConeContact.solve
    monkeypatch.setattr(ConeContact, "solve", watched)
    monkeypatch.setattr(
        contact_problem, "has_many_contacts", lambda world, _: world is simulation.system.terms
    )
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
        impulse, v, w = np.arange(1.0, 1.0 + len(rows)), np.empty(problem.velocity_count), np.empty(len(rows))
        multiply_blocks(problem.blocks, 3, problem.free_velocity, impulse, v, w)
        expected = W @ impulse + problem.free_velocity
        assert abs(w - expected).max() <= 100 * EPS * len(rows) * abs(W).max() * impulse.max()


def test_bodies_in_another_order_move_the_same_contacts(monkeypatch):
    simulation, seen = columns(1, 7), []

    def watched(self, problem, impulse):
        seen.append(problem)
        return solve(self, problem, impulse)

    solve = ConeContact.solve
    monkeypatch.setattr(ConeContact, "solve", watched)
    monkeypatch.setattr(body_order, "_FEW", 0)
    simulation.step()
    problem = seen[0]
    ordered = body_order.order_bodies(problem.blocks)
    assert np.array_equal(np.unique(ordered.velocity), 6 * np.arange(7))
    assert (ordered.velocity != problem.blocks.velocity).any()
    impulse = np.linspace(1.0, 2.0, len(problem.free_velocity))
    found = np.empty((2, len(impulse)))
    for blocks, w in zip((problem.blocks, ordered), found, strict=True):
        multiply_blocks(blocks, 3, problem.free_velocity, impulse, np.empty(42), w)
    assert np.array_equal(found[0], found[1])  # each sum is the same, term by term


@pytest.mark.parametrize("largest_direct", [2000, 0])
def test_blocks_carry_the_weight_by_newton_and_by_sweeps(monkeypatch, largest_direct):
    """One column of 28 contacts, whose W is kept by blocks; the residual of Coulomb's law is measured here."""
    monkeypatch.setattr(block_search, "_DIRECT", largest_direct)
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
