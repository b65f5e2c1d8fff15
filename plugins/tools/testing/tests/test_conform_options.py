"""`corekit conform` on drawn options and inside a scenario."""

import json

import pytest

from corekit.cli import FAILED, MISUSE, main
from corekit.errors import ConfigError
from corekit_testing.conformance import Subject
from corekit_testing.conformance.drawn_options import draw_subject, other_numbers
from corekit_testing.penalty import Penalty
from corekit_testing.pendulum import Pendulum

SCENARIO = """
format = "corekit-scenario/1"
name = "ball"
[time]
step = 1e-3
duration = 0.1
[world]
obstacles = [{ name = "floor", shape = "half-space" }]
[[bodies]]
name = "ball"
use = "reference-point-chain"
options = { masses = [2.0], positions = [[0.0, 0.0, 0.11]], shape = "sphere", radius = 0.1, drag = 0.3 }
[contact]
detector = "reference-detector"
solver = "reference-gauss-seidel"
[integrator]
use = "reference-velocity-verlet"
"""


def test_draws_stay_in_their_ranges_and_keep_what_is_given():
    subject = Subject.installed("contact_solvers", "reference-penalty", {"stiffness": 2e5})
    drawn = [draw_subject(subject, seed).options for seed in range(12)]
    assert {each["stiffness"] for each in drawn} == {2e5}
    assert all(1 <= each["power"] <= 5 and each["thickness"] >= 0.0 for each in drawn)
    assert len({each["power"] for each in drawn}) > 1
    # what is 0 by default is exercised
    assert any(each["dissipation"] > 0.0 for each in drawn)
    assert drawn[3] == draw_subject(subject, 3).options


def test_what_nothing_can_be_drawn_for_says_so():
    bare = Subject.installed("integrators", "reference-velocity-verlet")
    with pytest.raises(ConfigError, match="none of 30 draws"):
        draw_subject(bare, 1)
    assert other_numbers(bare) is None


def test_a_mistake_behind_an_option_that_is_off_by_default_is_drawn(monkeypatch, capsys):
    right = Penalty._one

    def forgets_the_dashpot(self, contacts, c, velocity, out):
        right(self, contacts, c, velocity, out)
        if self._config.dissipation:
            out.damping[c] = 0.0

    monkeypatch.setattr(Penalty, "_one", forgets_the_dashpot)
    name = ["conform", "contact_solvers.reference-penalty", "--set", "power=2"]
    assert main(name) == 0
    assert main([*name, "--draw", "3", "--json"]) == FAILED
    report = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]) or "{}")
    assert len(report["drawn"]) == 3
    (first, *_) = [each for each in report["drawn"] if not each["conforms"]]
    assert first["options"]["dissipation"] > 0.0


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "ball.toml"
    file.write_text(SCENARIO)
    return str(file)


@pytest.mark.parametrize("name", ["models.reference-point-chain", "integrators.reference-velocity-verlet"])
def test_a_component_is_judged_in_a_scenario(scenario, name, capsys):
    assert main(["conform", name, "--world", scenario, "--json"]) == 0
    verdicts = {row["check"]: row["verdict"] for row in json.loads(capsys.readouterr().out)["checks"]}
    assert {verdicts[f"world-{each}"] for each in ("deterministic", "resumed", "turns")} == {"passed"}


def test_what_a_class_shares_shows_where_two_simulations_take_turns(scenario, monkeypatch, capsys):
    from corekit_testing.velocity_verlet import VelocityVerlet

    right = VelocityVerlet.step

    def counted(self, system, state, t_stop, out):
        kind = type(self)
        kind.steps = getattr(kind, "steps", 0) + 1
        report = right(self, system, state, t_stop, out)
        out.q[0] += 1e-9 * (kind.steps % 7)
        return report

    monkeypatch.setattr(VelocityVerlet, "step", counted)
    monkeypatch.setattr(VelocityVerlet, "steps", 0, raising=False)
    assert main(["conform", "integrators.reference-velocity-verlet", "--world", scenario, "--json"]) == FAILED
    verdicts = {row["check"]: row["verdict"] for row in json.loads(capsys.readouterr().out)["checks"]}
    assert verdicts["world-turns"] == "failed"


def test_a_world_without_the_component_and_other_misuse_are_refused(scenario, capsys):
    name = "contact_solvers.reference-penalty"
    assert main(["conform", name, "--world", scenario]) == MISUSE
    assert (
        "it uses contact_detectors.reference-detector, contact_solvers.reference-gauss"
        in capsys.readouterr().err
    )
    assert main(["conform", name, "--draw", "-1"]) == MISUSE
    assert "draw: found -1" in capsys.readouterr().err
    for what, said in (("observers.watch", "observer_conformance"), ("verbs.masses", "corekit --help")):
        assert main(["conform", what]) == MISUSE
        assert said in capsys.readouterr().err


def test_the_pendulum_is_drawn_with_lists_that_fit():
    subject = Subject.installed("models", "reference-pendulum")
    for seed in range(5):
        Pendulum(draw_subject(subject, seed).config())
