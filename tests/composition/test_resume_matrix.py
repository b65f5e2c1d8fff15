"""Every cell of the matrix goes on bit for bit: from its saved state, and after restoring its own state.

A cell is a model, a contact solver and an integrator. What is compared is all that a run keeps of a step: q and v,
the number of contacts, their impulses, the iterations of integrator and solver.
"""

import numpy as np
import pytest

from corekit.errors import CompositionError
from corekit.scenario.load import load
from corekit_scenarios.cases.matrix.steps import Task, schemes

MODELS = ("pcc", "gvs", "vine", "der", "rigid")
SOLVERS = ("lcp", "qp", "cone", "imc")
BEFORE, AFTER = 70, 15
"""Steps; with the task's own step every model touches something by then."""
LOWER = {"rigid": ["bodies.plank.initial.position=[0.11, 0.0, 0.0125]"]}
"""The plank of the task falls for 0.2 s before it touches."""


def advance(simulation, steps):
    """All that the run keeps of these steps."""
    kept = []
    for _ in range(steps):
        simulation.step()
        contacts, report = simulation.contacts(), simulation.report
        kept.append(
            (
                simulation.state.qv.tobytes(),
                contacts.normal_impulse.tobytes(),
                contacts.tangential_impulse.tobytes(),
                report.iterations,
                report.solve_info.iterations,
            )
        )
    return kept


@pytest.mark.parametrize("scheme", schemes(), ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_saving_loading_and_restoring_change_no_bit(model, solver, scheme):
    task = Task.of(f"matrix/{model}")
    step = task.step_of(scheme, solver)
    overrides = [f"contact.solver.use={solver}", f"time.step={step!r}", scheme.choice, *LOWER.get(model, [])]
    try:
        saved, loaded = (load(f"matrix/{model}", overrides).compose() for _ in range(2))
    except CompositionError as refusal:
        assert "unsound for a stiff model" in str(refusal)  # noqa: PT017
        return
    first, expected = advance(saved, BEFORE), advance(saved, AFTER)
    saved.reset()
    assert advance(saved, BEFORE) == first
    loaded.restore(saved.internal_state())
    loaded.restore(loaded.internal_state())
    assert advance(saved, AFTER) == expected
    assert advance(loaded, AFTER) == expected
    assert step < task.step or any(np.frombuffer(impulse).any() for _, impulse, *_ in first + expected)
