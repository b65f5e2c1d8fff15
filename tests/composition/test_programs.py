"""Quadratic programs in place of complementarity: the same motion, for any model, whole or reduced."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.data.status import SolveInfo, Status
from corekit.errors import PluginError
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.scenario.load import from_document
from corekit_qp.qp import QPContact
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world

ARM = Path(__file__).parents[2] / "scenarios" / "cusp" / "inclined_box.toml"


def moved(simulation, steps):
    for _ in range(steps):
        assert simulation.step().solve_info.status.solved
    return simulation.state.q.copy()


def test_an_arm_with_friction_lands_and_slides_alike_with_programs_and_with_complementarity():
    ends = [
        moved(corekit.load(ARM, [f'contact.solver={{ use = "{solver}" }}']).compose(), 150)
        for solver in ("lcp", "qp")
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


def dragged(friction="exact", height=0.012):
    """A weighty robot that grows along a rough floor; its base is as high as the radius."""
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "dragged",
            "time": {"duration": 1.0, "step": 0.005},
            "world": {"obstacles": [{"name": "floor", "shape": "half-space", "friction": 0.4}]},
            "bodies": [
                {
                    "name": "robot",
                    "use": "vine",
                    "base": {"position": [0.0, 0.0, height]},
                    "options": {"bodies": 8, "length": 0.3, "body_mass": 5e-3, "bending_damping": 1e-4},
                    "initial": {"bend": [0.1, 0.0, 0.0, 0.0]},
                    "inputs": [{"channel": "growth-rate", "signal": 0.05}],
                }
            ],
            "contact": {
                "detector": {"use": "sdf"},
                "solver": {"use": "qp", "options": {"friction": friction}},
            },
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": 0.005},
        }
    ).compose()


def test_a_step_taken_whole_is_the_step_taken_by_elimination():
    both: list[Any] = [dragged(), dragged()]
    whole, reduced = both
    assert whole.system.equation._unreduced_step is not None
    reduced.system.equation._unreduced_step = None
    first, second = moved(whole, 60), moved(reduced, 60)
    assert whole.contacts().normal_impulse.max() > 0
    np.testing.assert_allclose(first, second, atol=1e-9)
    np.testing.assert_allclose(
        whole.system.terms.bodies[0].row_impulse,
        reduced.system.terms.bodies[0].row_impulse,
        rtol=1e-4,
        atol=1e-9,
    )


def test_a_base_that_stands_inside_the_floor_is_a_contact_that_nothing_moves():
    """Its row is zero, so that no impulse pushes it out: one that was sought anyway came to 1e13 N·s."""
    inside, reduced = dragged(height=0.011), dragged(height=0.011)
    system: Any = reduced.system
    system.equation._unreduced_step = None
    first, second = moved(inside, 60), moved(reduced, 60)
    np.testing.assert_allclose(first, second, atol=1e-9)
    record = inside.contacts()
    assert record.gap.min() == pytest.approx(-0.001)
    assert record.normal_impulse[record.gap.argmin()] == 0.0
    assert 0.0 < record.normal_impulse.max() < 1.0


def test_relaxed_friction_lifts_what_slides_by_mu_times_its_slip():
    simulation: Any = dragged("relaxed")
    for _ in range(60):
        simulation.step()
    record = simulation.contacts()
    sliding = np.abs(record.slip[:, 0]) > 1e-3
    assert (sliding & (record.normal_impulse > 0)).any()
    pressed = sliding & (record.normal_impulse > 1e-9)
    assert simulation.system.pipeline is not None
    speed = simulation.system.terms.jacobian.multiply(simulation.state.v)[: len(pressed), 0]
    bias = simulation.system.equation.bias[:, 0]
    np.testing.assert_allclose((speed + bias)[pressed], 0.4 * np.abs(record.slip[pressed, 0]), rtol=1e-6)


@pytest.mark.parametrize("name", ["banded", "piqp"])
def test_massless_links_send_a_step_the_common_way(name):
    pytest.importorskip(name) if name != "banded" else None
    config = PointChainConfig(
        masses=(0.0, 1.0), positions=((0.5, 0.0, 0.0), (1.0, 0.0, 0.0)), links=("weld", "rod")
    )

    def build(role, use):
        spec = resolve(role, use.use)
        return load_target(spec.target)(load_target(spec.config)(**use.options))

    spec = resolve("contact_solvers", "qp")
    solver = load_target(spec.target)(
        load_target(spec.config)(qp_solver=name), BuildContext(build=build, step=1e-3)
    )
    paths = []
    for one in (solver, None):
        context = BuildContext(step=1e-3)
        simulation = small_world(
            {"chain": PointChain(config, context)}, SemiImplicitEuler(None, context), step=1e-3, solver=one
        )
        for _ in range(20):
            assert simulation.step().solve_info.status is Status.CONVERGED
        paths.append(simulation.state.q.copy())
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-12)


def test_a_solver_that_does_not_ask_for_the_unreduced_form_is_told_so(monkeypatch):
    monkeypatch.setattr(QPContact, "solve", lambda _self, problem, _impulse: problem.delassus())
    with pytest.raises(PluginError, match=r"UnreducedStepSolver answers StepProblem.unreduced\(\)"):
        dragged().step()


def test_a_solver_that_gives_an_unreduced_step_up_is_called_again_with_w(monkeypatch):
    """Every step is given up: it moves as by elimination, without a warm start that is not the solver's."""
    solve, asked = QPContact.solve, []

    def give_up(self, problem, impulse):
        asked.append(problem.unreduced() is None)
        return SolveInfo(Status.SINGULAR) if problem.unreduced() else solve(self, problem, impulse)

    reduced: Any = dragged()
    reduced.system.equation._unreduced_step = None
    expected = moved(reduced, 20)
    monkeypatch.setattr(QPContact, "solve", give_up)
    np.testing.assert_allclose(moved(dragged(), 20), expected, atol=1e-9)
    assert {True, False} == set(asked)
