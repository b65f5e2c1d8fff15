"""The watchdog finds what is wrong at the first bad step, and nothing where all is well."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import Status
from corekit.errors import ConfigError, ResultsError, StepFailed
from corekit.scenario.load import from_document, load, loads
from corekit.simulation.explicit_limit import explicit_limit
from corekit.simulation.loop import Simulation
from corekit_record.energy_balance import EnergyBalance
from corekit_record.results import Results
from corekit_run.running import replay, run

OMEGA = 100.0


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch, tiny):
    monkeypatch.chdir(tmp_path)


def oscillator(step: float, duration: float, more: str = "", use: str = "reference-velocity-verlet") -> Any:
    """Unit mass on a spring with ω = 100/s, pulled out by 0.1 m, without gravity."""
    return loads(f"""
    format = "corekit-scenario/1"
    name = "oscillator"
    time = {{ duration = {duration}, step = {step} }}
    output = {{ every = {step} }}
    world = {{ gravity = [0.0, 0.0, 0.0] }}
    integrator = {{ use = "{use}" }}
    {more}
    [[bodies]]
    name = "mass"
    use = "reference-point-chain"
    [bodies.options]
    positions = [[1.1, 0.0, 0.0]]
    links = ["spring"]
    lengths = [1.0]
    stiffness = {OMEGA**2}
    """)


STOP = "watchdog = { energy = { policy = 'stop' } }"


def test_an_explicit_blow_up_is_stopped_long_before_infinity():
    """Verlet multiplies the amplitude by |λ| a step, λ² − (2 − h²ω²)·λ + 1 = 0, beyond hω = 2."""
    h = 2.2 / OMEGA
    scenario = oscillator(h, 2000 * h, STOP)
    with pytest.raises(StepFailed, match=r"energy grew by .* J that no work explains.*'mass'") as caught:
        run(scenario, directory="out")
    half = 1.0 - 0.5 * (h * OMEGA) ** 2
    factor = abs(half) + math.sqrt(half * half - 1.0)
    error = caught.value
    assert error.step < 20
    # what is kept has grown, by the law, to nothing worse than a few dozen times the start
    x = Results("out").q[:, 0] - 1.0
    assert np.abs(x).max() < 0.1 * factor**20
    assert (error.body, error.time) == ("mass", pytest.approx(error.step * h))
    assert error.term == "spring"
    assert f"stable below {2.0 / OMEGA:.3g} s" in str(error)


@pytest.mark.parametrize("when", [1, 2, 3, 12])
@pytest.mark.parametrize("factor", [1.3, 2.0, 100.0])
def test_a_jump_of_the_energy_is_judged_by_what_was_there_before_it(when, factor):
    """At the lowest point all energy is kinetic: a factor there on it exceeds half of itself from 1.5 on."""
    quarter = 0.5 * math.pi / OMEGA
    simulation = oscillator(quarter / when, 1.0).compose()
    balance = EnergyBalance(simulation)
    for _ in range(when - 1):
        simulation.step()
        balance.sample(simulation)
        assert not balance.exceeds(0.5)
    simulation.step()
    simulation.state.q[:] = [1.0, 0.0, 0.0]
    simulation.state.v[:] = [-math.sqrt(factor) * 0.1 * OMEGA, 0.0, 0.0]
    balance.sample(simulation)
    assert balance.exceeds(0.5) == (factor > 1.5)


@pytest.mark.parametrize("integrator", ["reference-velocity-verlet", "reference-semi-implicit-euler"])
def test_a_fall_from_rest_is_not_flagged_by_its_first_steps(integrator):
    """After one step all energy is new; the error of first order is as large as the motion."""
    more = "watchdog = { energy = { policy = 'stop', limit = 0.01 } }"
    text = oscillator(1e-3, 0.02, more, integrator)
    document = dict(text.document) | {"world": {"gravity": [0.0, 0.0, -9.81]}}
    document["bodies"][0]["options"] = {"positions": [[1.0, 0.0, 0.0]], "links": []}
    results = from_document(document).run(directory="out")
    assert results.events[-1]["watchdog"] == {}


@pytest.mark.parametrize("policy", ["stop", "record"])
def test_a_stable_oscillator_is_not_flagged(policy):
    more = f"watchdog = {{ energy = {{ policy = '{policy}' }} }}"
    results = run(oscillator(0.2 / OMEGA, 400 * 0.2 / OMEGA, more), directory="out")
    assert results.events[-1]["watchdog"] == {}


def driven(more: str = "") -> Any:
    """A mass at rest, pulled at its resonance: x = F/(2mω)·t·sin(ωt), so its energy grows by the work done."""
    h = 0.1 / OMEGA
    return loads(f"""
    format = "corekit-scenario/1"
    name = "driven"
    time = {{ duration = {800 * h}, step = {h} }}
    output = {{ every = {10 * h} }}
    world = {{ gravity = [0.0, 0.0, 0.0] }}
    integrator = {{ use = "reference-velocity-verlet" }}
    {more}
    [[bodies]]
    name = "mass"
    use = "reference-point-chain"
    options = {{ positions = [[1.0, 0.0, 0.0]], links = ["spring"], stiffness = {OMEGA**2} }}
    [[bodies.inputs]]
    channel = "pull"
    signal = {{ kind = "sine", amplitude = [50.0, 0.0, 0.0], frequency = {OMEGA / (2 * math.pi)!r} }}
    """)


@pytest.mark.parametrize("policy", ["stop", "record"])
def test_a_driven_oscillator_at_resonance_is_not_flagged(policy):
    results = run(driven(f"watchdog = {{ energy = {{ policy = '{policy}' }} }}"), directory="out")
    energy = results.energy.total
    assert energy[-1] > 5.0 * energy[20] > 0
    assert results.events[-1]["watchdog"] == {}


def test_the_balance_of_a_driven_oscillator_closes():
    """The energy gained is the work done, to what the trapezoids leave."""
    simulation: Simulation = driven().compose()
    balance = EnergyBalance(simulation)
    simulation.observe(lambda sim, _report: balance.sample(sim))
    simulation.run(0.8)
    model: Any = simulation.bodies[0].model
    kinetic, potential = model.compute_energies(simulation.state.body_states[0])
    assert kinetic + potential > 1.0
    assert balance._sums["work"] == pytest.approx(kinetic + potential, rel=2e-2)


def test_a_moving_floor_does_the_work_that_lifts_a_ball(world, tmp_path):
    """The floor of the tiny world sinks; one that rises by 0.2 m lifts 2 kg by 3.9 J."""
    text = """
    format = "corekit-scenario/1"
    name = "lift"
    time = { duration = 0.4, step = 1e-3 }
    output = { every = 0.01 }
    contact = { detector = "tiny-floor", solver = "tiny-sweeps" }
    integrator = { use = "tiny-euler" }
    watchdog = { energy = { policy = "stop", limit = 0.1 } }
    [[world.obstacles]]
    name = "floor"
    shape = "half-space"
    position = { kind = "ramp", from = 0.0, to = 0.4, start = [0.0, 0.0, 0.0], value = [0.0, 0.0, 0.2] }
    [[bodies]]
    name = "ball"
    use = "tiny-ball"
    initial = { position = [0.0, 0.0, 0.1] }
    """
    results = run(loads(text), directory="out")
    assert results.q[-1, 2] == pytest.approx(0.3, abs=1e-2)
    assert results.events[-1]["watchdog"] == {}


def test_what_cannot_be_known_about_energy_is_said_and_not_judged():
    text = STOP + "\n"
    winch = oscillator(1e-3, 0.02, text).resolved_text().replace('"spring"', '"winch"')
    results = run(loads(winch.replace("reference-velocity-verlet", "reference-implicit-euler")))
    said = results.events[-1]["watchdog"]["energy_unwatched"]
    assert "of 'mass', a velocity, is not known" in said


# — penetration and solves —


def test_penetration_is_warned_of_once_counted_and_logged(scenario_file):
    """A ball that begins 30 mm inside the floor recedes with push_out at 0.5 m/s."""
    scenario = load(scenario_file, ["bodies.ball.initial.position=[0.0, 0.0, 0.07]"])
    said = []
    results = run(scenario, directory="out", warn=said.append)
    start, warning = said
    assert start == "ball starts 30 mm inside floor: move one of them, or check their sizes, in metres"
    assert "ball.0 is 30 mm inside floor, more than 10 mm" in warning
    depth = 0.1 - results.q[:, 2]
    found = results.events[-1]["watchdog"]["penetration"]
    assert found["worst"] == pytest.approx(0.03)
    assert found["first_s"] == pytest.approx(1e-3)
    # recorded every tenth step
    assert abs(found["steps"] - 10 * np.sum(depth > 0.01)) <= 10
    (event,) = [event for event in results.events if event["event"] == "watchdog"]
    assert (event["kind"], event["step"], event["body"]) == ("penetration", 0, "ball")


def test_penetration_can_stop_the_run_before_the_step_is_kept(scenario_file):
    policy = "watchdog.penetration={policy='stop', limit=0.02}"
    scenario = load(scenario_file, ["bodies.ball.initial.position=[0, 0, 0.07]", policy, "output.every=1e-3"])
    with pytest.raises(StepFailed, match="30 mm inside floor, more than 20 mm") as caught:
        run(scenario, directory="out")
    assert (caught.value.body, caught.value.step) == ("ball", 0)
    assert list(Results("out").time) == [0.0]
    with pytest.raises(StepFailed) as again:
        replay("out/step-0.npz")
    assert str(again.value) == str(caught.value)


def test_unsolved_steps_warn_once_or_stop(scenario_file, tiny, monkeypatch):
    solve = tiny("contact").Sweeps.solve

    def miss(self, problem, impulse):
        info = solve(self, problem, impulse)
        return type(info)(
            type(info.status).ITERATION_LIMIT, info.iterations, info.residuals, info.answered_by
        )

    monkeypatch.setattr(tiny("contact").Sweeps, "solve", miss)
    said: list[str] = []
    results = run(load(scenario_file), directory="warned", warn=said.append)
    (sentence,) = said
    assert "The iteration limit was reached" in sentence
    assert results.events[-1]["watchdog"]["unsolved"]["steps"] == results.statistics["unsolved_steps"] > 100
    events = [event for event in results.events if event["event"] == "watchdog"]
    assert 1 <= len(events) <= 10
    with pytest.raises(
        StepFailed,
        match=r"iteration limit.*worst between ball\.0 \(sphere\) and floor \(half-space\), found by.* 0\.0005 s",
    ) as caught:
        run(load(scenario_file, ["watchdog.unsolved=stop"]), directory="stopped")
    results = Results("stopped")
    assert results.time[-1] <= caught.value.time + 1e-12
    assert results["unsolved_since"].sum() == 0


def bad_worlds(scenario_file, tiny, monkeypatch):
    """By kind: the overrides of a run of a few steps that has it."""

    solve = tiny("contact").Sweeps.solve

    ends = {"unsolved": Status.ITERATION_LIMIT, "ambiguous": Status.AMBIGUOUS}

    def make(kind, policy):
        height = 0.07 if kind == "penetration" else 0.1
        short = [f"bodies.ball.initial.position=[0, 0, {height}]", "time.duration=0.02"]
        if kind in ends:

            def end_so(self, problem, impulse):
                return evolve(solve(self, problem, impulse), status=ends[kind])

            monkeypatch.setattr(tiny("contact").Sweeps, "solve", end_so)
            return load(scenario_file, [*short, f"watchdog.{kind}={policy}"])
        if kind == "penetration":
            return load(scenario_file, [*short, f"watchdog.penetration={{policy='{policy}', limit=0.02}}"])
        return oscillator(2.2 / OMEGA, 44 / OMEGA, f"watchdog = {{ energy = {{ policy = '{policy}' }} }}")

    return make


@pytest.mark.parametrize("kind", ["unsolved", "ambiguous", "penetration", "energy"])
def test_each_kind_stops_warns_once_or_is_recorded_in_silence(kind, scenario_file, tiny, monkeypatch):
    make = bad_worlds(scenario_file, tiny, monkeypatch)
    told = {policy: [] for policy in ("stop", "warn", "record")}
    with pytest.raises(StepFailed) as caught:
        run(make(kind, "stop"), directory="stop", warn=told["stop"].append)
    error = caught.value
    assert error.body in {"ball", "mass"}
    assert "Try a" in str(error)
    with pytest.raises(StepFailed, match=re.escape(str(error))):
        replay(f"stop/step-{error.step}.npz")
    ends = {
        policy: run(make(kind, policy), directory=policy, warn=told[policy].append)
        for policy in ("warn", "record")
    }
    # what `corekit check` warns of is said whatever the watchdog does
    said = {policy: [each for each in found if "starts 30 mm" not in each] for policy, found in told.items()}
    assert {policy: len(sentences) for policy, sentences in said.items()} == {
        "stop": 0,
        "warn": 1,
        "record": 0,
    }
    for policy, results in ends.items():
        logged = [event for event in results.events if event["event"] == "watchdog" and event["kind"] == kind]
        assert logged
        assert {event["policy"] for event in logged} == {policy}
        assert results.events[-1]["watchdog"][kind]["steps"] > 1
        assert results.status == "finished"
    np.testing.assert_array_equal(ends["warn"].q, ends["record"].q)


# — non-finite values, and the step that is kept —


def test_a_lost_force_names_body_coordinate_term_and_time_and_its_step_replays(scenario_file):
    scenario = load(scenario_file, ["bodies.ball.options.breaks_at=0.155"])
    with pytest.raises(StepFailed) as caught:
        run(scenario, directory="out")
    error = caught.value
    assert (error.body, error.coordinate, error.term, error.step) == ("ball", "vy", "push", 155)
    assert error.time == pytest.approx(0.155)
    assert "for example 0.0005 s" in str(error)
    assert error.__notes__[-1] == "That step alone: corekit run out/step-155.npz"
    assert Results("out").events[-1]["replay"] == "step-155.npz"
    with pytest.raises(StepFailed) as again:
        replay("out/step-155.npz")
    assert str(again.value) == str(error)


def test_an_energy_stop_replays_at_the_same_step():
    h = 2.2 / OMEGA
    with pytest.raises(StepFailed) as caught:
        run(oscillator(h, 100 * h, STOP), directory="out")
    with pytest.raises(StepFailed) as again:
        replay(f"out/step-{caught.value.step}.npz")
    assert str(again.value) == str(caught.value)


def test_the_command_line_replays_a_step(shell, scenario_file):
    told = shell.corekit(
        "run", str(scenario_file), "--out", "out", "--quiet", "--set", "bodies.ball.options.breaks_at=0.02"
    )
    assert told.returncode == 1
    assert "That step alone: corekit run out/step-20.npz" in told.stderr
    again = shell.corekit("run", "out/step-20.npz")
    assert again.returncode == 1
    assert again.stderr.splitlines()[0] == told.stderr.splitlines()[0]
    missing = shell.corekit("run", "out/step-21.npz")
    assert missing.returncode == 2
    assert "there is no checkpoint out/step-21.npz" in missing.stderr
    damaged = Path(shell.folder / "out" / "step-20.npz")
    damaged.write_bytes(damaged.read_bytes()[:500])
    with pytest.raises(ResultsError, match="is not a whole checkpoint"):
        replay(damaged)


def test_warnings_reach_the_terminal_and_the_table(shell, scenario_file):
    told = shell.corekit(
        "run", str(scenario_file), "--set", "bodies.ball.initial.position=[0, 0, 0.07]",
        "--set", "time.duration=0.05",
    )  # fmt: skip
    assert told.returncode == 0
    assert told.stderr.count("warning: t = 0.001 s: ball.0 is 30 mm inside") == 1
    assert "penetration: " in told.stdout


# — step sizes and options —


def test_the_explicit_limit_is_the_analytic_one_of_an_oscillator():
    simulation = oscillator(1e-3, 0.01).compose()
    assert explicit_limit(simulation.bodies[0], simulation.state.body_states[0]) == pytest.approx(
        2.0 / OMEGA, rel=1e-2
    )


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("watchdog.non_finite=warn", "one of 'stop'"),
        ("watchdog.unsolved=ignore", "one of 'stop', 'warn', 'record'"),
        ("watchdog.penetration.limit=-1.0", "≥ 0"),
        ("watchdog.energy.limt=1.0", "did you mean 'limit'"),
    ],
)
def test_wrong_policies_are_named_with_what_is_allowed(scenario_file, override, words):
    with pytest.raises(ConfigError, match=words):
        load(scenario_file, [override])
