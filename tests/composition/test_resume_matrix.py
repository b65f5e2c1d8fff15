"""Every cell of the matrix goes on bit for bit: from its saved state, and after restoring its own state.

A cell is a model, a contact solver and an integrator. What is compared is all that a run keeps of a step: q and v,
the number of contacts, their impulses, the iterations of integrator and solver. With `--full` 300 steps are compared.
"""

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from corekit.errors import CompositionError
from corekit.scenario.load import load
from corekit_scenarios.cases.matrix.steps import Task, schemes

MODELS = ("pcc", "gvs", "vine", "der", "rigid")
SOLVERS = ("lcp", "qp", "cone", "imc")
RAISED = {"pcc": 3.4e-3, "gvs": 5.3e-3, "vine": 16.2e-3, "der": 9.3e-3, "rigid": 9.6e-3}
"""By how much obstacles are raised [m]: what the task's body falls through in 50 to 200 steps takes 13 of them."""
TOUCHING, AFTER, LONG_AFTER = 8, 10, 300
"""Steps after the first that touches, and after the state is saved; the last number with `--full`."""
RESTORED_EVERY = 9
"""After so many steps the own state is taken, a step is lost, and the state is restored."""
LONGEST = 60
"""Steps by which all have touched, also those of a fifth of the task's step."""


def is_refused(model, solver, scheme):
    """Impulses that correct a step whose smooth part was implicit are unsound for the stiff models of this table."""
    return solver != "imc" and {"split", "implicit"} <= scheme.abilities


CELLS = list(product(MODELS, SOLVERS, schemes()))


def table(cells):
    """A cell is a model, a contact solver and an integrator."""
    return pytest.mark.parametrize(
        ("model", "solver", "scheme"), cells, ids=lambda value: getattr(value, "name", value)
    )


@lru_cache
def task_of(model):
    return Task.from_scenario(f"matrix/{model}")


@lru_cache
def raised(model):
    """The obstacles' places, as `--set` takes them."""
    changes = []
    for number, obstacle in enumerate(load(f"matrix/{model}").world.obstacles):
        place = np.empty(3)
        obstacle.position.value(0.0, place)
        place[2] += RAISED[model]
        changes.append(f"world.obstacles[{number}].position={place.tolist()}")
    return changes


def load_cell(model, solver, scheme, step):
    changes = [f"contact.solver.use={solver}", f"time.step={step!r}", scheme.choice, *raised(model)]
    return load(f"matrix/{model}", changes)


def advance(simulation, steps):
    """All that the run keeps of these steps."""
    return [take_step(simulation) for _ in range(steps)]


def take_step(simulation):
    simulation.step()
    contacts, report = simulation.contacts(), simulation.report
    return (
        simulation.state.qv.tobytes(),
        contacts.normal_impulse.tobytes(),
        contacts.tangential_impulse.tobytes(),
        report.iterations,
        report.solve_info.iterations,
    )


def advance_disturbed(simulation, steps):
    """As `advance`, with the own state taken, lost and restored again and again."""
    kept = []
    for index in range(steps):
        if index % RESTORED_EVERY == 0:
            own = simulation.internal_state()
            simulation.step()
            simulation.restore(own)
        kept.append(take_step(simulation))
    return kept


def advance_into_contact(simulation):
    kept = []
    while len(kept) < LONGEST:
        kept.append(take_step(simulation))
        if simulation.contacts().normal_impulse.any():
            return kept + advance(simulation, TOUCHING)
    pytest.fail(f"touches nothing in {LONGEST} steps")


@pytest.mark.product_table
@table([cell for cell in CELLS if is_refused(*cell)])
def test_what_is_unsound_is_refused(model, solver, scheme):
    with pytest.raises(CompositionError, match="unsound where a model may be stiff"):
        load_cell(model, solver, scheme, 1e-3).compose()


@pytest.mark.product_table
@table([cell for cell in CELLS if not is_refused(*cell)])
def test_saving_loading_and_restoring_change_no_bit(model, solver, scheme, pytestconfig):
    after = LONG_AFTER if pytestconfig.getoption("full") else AFTER
    scenario = load_cell(model, solver, scheme, task_of(model).step_of(scheme))
    saved, loaded = scenario.compose(), scenario.compose()
    first = advance_into_contact(saved)
    loaded.restore(saved.internal_state())
    expected = advance(saved, after)
    assert advance_disturbed(loaded, after) == expected
    saved.reset()
    assert advance(saved, len(first)) == first
    assert advance(saved, after) == expected
