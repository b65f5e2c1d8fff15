"""Combinations that cannot work are refused in one sentence, before anything heavy is imported."""

import subprocess
import sys
from typing import Any

import pytest

from corekit.errors import CompositionError
from corekit.registry.spec import ComponentSpec
from corekit.scenario.component_selection import SelectedComponents, check_composition, composition_errors
from corekit.scenario.load import from_document, load


def spec(role, name, provides=(), requires=None):
    return ComponentSpec(
        role=role,
        name=name,
        api="0.2",
        target="nowhere:Nothing",
        config="nowhere:Nothing",
        summary="",
        provides=frozenset(provides),
        requires=requires or {},
    )


ARM = spec("models", "arm", {"point-jacobian", "force-derivatives", "energy"})
GHOST = spec("models", "ghost", {"energy"})
FINDER = spec("contact_detectors", "finder")
IMPULSES = spec("contact_solvers", "impulsive", {"impulses"}, {"lcp_solvers": frozenset()})
PIVOTS = spec("lcp_solvers", "pivots")
POTENTIAL = spec("contact_solvers", "smooth", {"potential"}, {"models": frozenset({"force-derivatives"})})
COUPLED = spec("integrators", "together", {"coupled", "impulses", "potential"})
SPLIT = spec("integrators", "apart", {"split", "implicit", "impulses"})
EXPLICIT_SPLIT = spec("integrators", "quick", {"split", "impulses"})


def cast(
    model=ARM,
    solver: ComponentSpec | None = IMPULSES,
    integrator=COUPLED,
    detectors=(FINDER,),
    others=(PIVOTS,),
):
    return SelectedComponents({"robot": model}, detectors, solver, integrator, others)


def test_a_meaningful_combination_is_not_refused():
    assert composition_errors(cast()) == []
    assert composition_errors(cast(solver=POTENTIAL, others=())) == []
    assert composition_errors(cast(solver=None, detectors=(), others=())) == []
    assert composition_errors(cast(integrator=EXPLICIT_SPLIT)) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (cast(model=GHOST), ["'point-jacobian'", "body 'robot' (ghost)", "pcc"]),
        (cast(detectors=()), ["needs a contact detector", "sdf"]),
        (cast(others=()), ["needs an LCP solver", "lemke"]),
        (
            cast(solver=POTENTIAL, integrator=EXPLICIT_SPLIT),
            ["gives potential", "'quick'", "semi-implicit-euler"],
        ),
        (cast(model=GHOST, solver=POTENTIAL), ["'force-derivatives'", "ghost"]),
        (
            cast(integrator=SPLIT),
            ["'apart'", "the mass alone", "body 'robot' (", "coupled", "semi-implicit-euler"],
        ),
    ],
    ids=["no contact rows", "no detector", "no LCP solver", "wrong kind", "no tangent", "stiff split"],
)
def test_each_composition_error_names_the_component_the_ability_and_alternatives(given, words):
    with pytest.raises(CompositionError) as refused:
        check_composition(given)
    for word in words:
        assert word in str(refused.value)
    assert "reference-" not in str(refused.value)


def document(**changes):
    base = {
        "format": "corekit-scenario/1",
        "name": "refused",
        "time": {"duration": 0.01, "step": 1e-3},
        "bodies": [
            {
                "name": "chain",
                "use": "reference-point-chain",
                "options": {"masses": [1.0], "positions": [[1.0, 0.0, 0.0]], "links": ["brake"]},
            }
        ],
        "integrator": {"use": "semi-implicit-euler"},
        "output": {"every": 0.01},
    }
    return from_document({**base, **changes})


def test_bounded_rows_without_an_impulse_solver_are_refused():
    with pytest.raises(CompositionError, match=r"'chain' has rows with force bounds.*contact\.solver"):
        document().compose()


def test_an_implicit_split_step_with_impulses_is_refused_only_where_something_may_touch():
    ball = {
        "name": "ball",
        "use": "reference-point-chain",
        "options": {"masses": [1.0], "positions": [[0.0, 0.0, 1.0]], "shape": "sphere"},
    }
    parts = {"contact": {"detector": "sdf", "solver": "lcp"}, "integrator": {"use": "newmark"}}
    assert document(bodies=[ball], **parts).compose().bodies[0].name == "ball"
    floor = {"obstacles": [{"name": "floor", "shape": "half-space"}]}
    other = {**ball, "name": "other"}
    brake = {**ball, "options": {**ball["options"], "links": ["brake"]}}
    coiled = {**ball, "options": {**ball["options"], "self_contact": True}}
    for changes in ({"world": floor}, {"bodies": [ball, other]}, {"bodies": [brake]}, {"bodies": [coiled]}):
        with pytest.raises(CompositionError, match="unsound where a model may be stiff"):
            document(**{"bodies": [ball], **parts, **changes}).compose()


def test_shapes_that_no_detector_compares_are_refused():
    edges = {
        "name": "rod",
        "use": "reference-point-chain",
        "options": {
            "masses": [1.0, 1.0],
            "positions": [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
            "links": ["none", "rod"],
            "shape": "edge",
        },
    }
    scenario = document(
        bodies=[edges],
        world={
            "obstacles": [
                {
                    "name": "wedge",
                    "shape": "polytope",
                    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                }
            ]
        },
        contact={"detector": "sdf", "solver": "lcp"},
    )
    with pytest.raises(
        CompositionError,
        match=r"serves edge \(of body 'rod'\) against polytope \(no installed contact detector does\)",
    ):
        scenario.compose()


def test_a_wrong_input_channel_and_size_are_refused_with_what_there_is():
    inputs: list[dict[str, Any]] = [{"channel": "chamber-forse", "signal": 1.0}]
    arm = {"name": "arm", "use": "pcc", "inputs": inputs}
    with pytest.raises(CompositionError, match="'chamber-forse', did you mean 'chamber-force'"):
        document(bodies=[arm]).compose()
    inputs[0] = {"channel": "chamber-force", "signal": [1.0, 2.0]}
    with pytest.raises(CompositionError, match=r"takes 9 numbers \[N\]"):
        document(bodies=[arm]).compose()


def test_a_refusal_imports_no_component(tmp_path):
    file = tmp_path / "refused.toml"
    file.write_text(
        'format = "corekit-scenario/1"\nname = "refused"\n[time]\nduration = 0.1\nstep = 1e-3\n'
        '[[bodies]]\nname = "arm"\nuse = "pcc"\n[contact]\nsolver = "lcp"\n'
        '[integrator]\nuse = "semi-implicit-euler"\n[output]\nevery = 0.01\n'
    )
    program = (
        "import sys, corekit\n"
        f"scenario = corekit.load({str(file)!r})\n"
        "try:\n    scenario.compose()\n"
        "except corekit.errors.CompositionError as error:\n    print(error)\n"
        "print(sorted({'numba', 'casadi', 'corekit_pcc.model', 'corekit_lcp.lcp'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import corekit.errors\n" + program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "needs a contact detector" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_a_world_that_needs_more_memory_than_there_is_is_refused_in_a_sentence(monkeypatch):
    def compose(_scenario, _selected):
        raise MemoryError("Unable to allocate 22.5 GiB")

    monkeypatch.setattr("corekit.scenario.compose.compose", compose)
    with pytest.raises(CompositionError, match=r"more memory than there is: Unable to allocate 22\.5 GiB"):
        load("teaching/two-arms").compose()
