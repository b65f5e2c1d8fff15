"""Friction laws of a distribution from outside, a box and an oval instead of an ellipse: shipped solvers take them."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import CompositionError, ConfigError
from corekit.registry.discover import discover
from corekit.roles.friction import friction_law
from corekit.scenario.load import load
from corekit_testing.conformance import Subject, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.friction_laws import LAWS

SPEC = """
from corekit.roles.friction import FrictionLaw

box = FrictionLaw(
    name="lab:box", coefficients=("along", "across"), is_directional=True,
    gauge=lambda record, along, across: max(abs(along) / record[0], abs(across) / record[1]),
    dissipation=lambda record, along, across: record[0] * abs(along) + record[1] * abs(across),
)
oval = FrictionLaw(
    name="lab:oval", coefficients=("along", "across"), is_directional=True,
    gauge=lambda record, along, across: ((along / record[0]) ** 4 + (across / record[1]) ** 4) ** 0.25,
    dissipation=lambda record, along, across: (
        abs(record[0] * along) ** (4 / 3) + abs(record[1] * across) ** (4 / 3)
    ) ** 0.75,
)
"""

SCENARIO = """
format = "corekit-scenario/1"
name = "in-a-box"
time = { duration = 0.1, step = 1e-3 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.01 }
contact = { detector = "sdf", solver = "lcp" }

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[bodies]]
name = "ball"
use = "reference-point-chain"
friction = { law = "lab:box", along = 0.2, across = 0.6, axis = [0.6, 0.8, 0.0] }
options = { masses = [2.0], positions = [[0.0, 0.0, 0.05]], shape = "sphere", radius = 0.05 }
"""

G, DURATION = 9.81, 0.1
ALONG, ACROSS = np.array([0.6, 0.8]), np.array([-0.8, 0.6])


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A distribution `lab-friction` on the import path, as pip leaves one, and a scenario."""
    package, info = tmp_path / "lab_friction", tmp_path / "lab_friction-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_spec.py").write_text(SPEC)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-friction\nVersion: 1.0\n")
    laws = "\n".join(f"lab:{name} = lab_friction._spec:{name}" for name in ("box", "oval", "lost"))
    (info / "entry_points.txt").write_text(f"[corekit.friction_laws]\n{laws}\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_a_ball_in_the_box_is_slowed_down_along_and_across_at_once(lab, solver):
    """Each coefficient acts on its own: more friction than the larger one alone allows, and no fault of the solver."""
    pytest.importorskip(f"corekit_{solver}")
    assert friction_law("lab:box").record_width == 2
    simulation = load(lab, [f"contact.solver={solver}"]).compose()
    simulation.state.v[:2] = 1.0 * ALONG + 0.7 * ACROSS
    simulation.run(DURATION)
    assert simulation.report.solve_info.status.solved
    slowed = (1.0 - 0.2 * G * DURATION) * ALONG + (0.7 - 0.6 * G * DURATION) * ACROSS
    # the corner is found to 1e-10 of it (`test_turned_pyramids`), solvers stop at 1e-8 of the speed
    np.testing.assert_allclose(simulation.state.v[:2], slowed, atol=1e-8)


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_a_ball_is_turned_by_an_oval_as_its_dissipation_says(lab, solver):
    """Friction is −∂d/∂w at the end of a step: (w₁ᵖ, w₂ᵖ) over their norm, with p = 1/3, which turns the slip."""
    pytest.importorskip(f"corekit_{solver}")
    simulation = load(lab, [f"contact.solver={solver}", "bodies[0].friction.law=lab:oval"]).compose()
    simulation.state.v[:2] = 0.5 * ALONG + 1.0 * ACROSS
    record = np.array([0.2, 0.6])
    for _ in range(100):
        before = np.array([ALONG, ACROSS]) @ simulation.state.v[:2]
        simulation.step()
        after = np.array([ALONG, ACROSS]) @ simulation.state.v[:2]
        scaled = record * after
        friction = record * np.cbrt(scaled) / np.sum(np.abs(scaled) ** (4 / 3)) ** 0.25
        given = (before - after) / (G * 1e-3)
        # the pyramid turned to the slip at the start of the step: a change of its angle by a is off by a²/2 and less
        turned = np.abs(np.subtract(*(np.arctan2(*(record * each)) for each in (before, after))))
        np.testing.assert_allclose(given, friction, atol=1e-6 + turned)


def test_a_ball_rests_in_the_box_where_the_larger_coefficient_alone_would_not_hold_it(lab):
    """On a slope of tan α = 0.62 whose fall line is in the corner of the box, |f| = 0.632."""
    pytest.importorskip("corekit_lcp")
    pull, corner = 0.62, np.array([0.2, 0.6]) / np.hypot(0.2, 0.6)
    sideways = pull * G * (corner[0] * ALONG + corner[1] * ACROSS)
    gravity = f"world.gravity=[{sideways[0]},{sideways[1]},{-G}]"
    held = load(lab, ["contact.solver=lcp", gravity]).compose()
    held.run(DURATION)
    np.testing.assert_allclose(held.state.v[:2], 0.0, atol=1e-9)


def test_every_installed_law_is_held_against_the_shipped_solvers(lab):
    pytest.importorskip("corekit_qp")
    for name in ("lcp", "qp"):
        verdicts = run_checks(Subject.installed("contact_solvers", name), checks=LAWS)
        assert {each.verdict for each in verdicts} == {Verdict.PASSED}


def test_the_listing_takes_a_law_for_no_component(lab):
    assert not [row for row in discover() if row.distribution == "lab-friction"]


@pytest.mark.parametrize("solver", ["cone", "imc"])
def test_a_solver_that_does_not_take_the_law_is_refused(lab, solver):
    pytest.importorskip(f"corekit_{solver}")
    with pytest.raises(
        CompositionError, match=f"asks for 'lab:box', which contact solver '{solver}' does not.*able: lcp, qp"
    ):
        load(lab, [f"contact.solver={solver}"]).compose()


def test_a_law_that_nobody_brings_is_a_mistake_with_its_path(lab):
    with pytest.raises(ConfigError, match=r"bodies\[0\]\.friction.*unknown friction law 'lab:disk'.*lab:box"):
        load(lab, ["bodies[0].friction.law=lab:disk"])


def test_a_law_that_cannot_be_loaded_is_named_with_its_distribution_where_it_stands(lab):
    with pytest.raises(ConfigError) as refused:
        load(lab, ["bodies[0].friction.law=lab:lost"])
    (mistake,) = refused.value.mistakes
    assert mistake.path == "bodies[0].friction"
    assert (
        "the friction law 'lab:lost' of lab-friction 1.0: loading lab_friction._spec:lost failed"
        in mistake.allowed
    )


def test_a_law_that_two_distributions_bring_is_refused_where_it_stands(lab):
    info = lab.parent / "other_friction-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-friction\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[corekit.friction_laws]\nlab:box = lab_friction._spec:box\n")
    with pytest.raises(ConfigError) as refused:
        load(lab)
    said = "the friction law 'lab:box' is brought by lab-friction 1.0 and other-friction 2.0: uninstall all but one"
    assert {mistake.allowed for mistake in refused.value.mistakes} == {said}
