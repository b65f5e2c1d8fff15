"""Inputs from Python, frames, contacts with names, reset, and controllers: sampled, held, recorded, resumed."""

from __future__ import annotations

import math
import threading
from typing import Any, final

import numpy as np
import pytest
from numba.core import event

from corekit.compiled import compiled
from corekit.compiled.watching import announced_compilation
from corekit.data.signals import Constant, Ramp, Sine
from corekit.errors import CompositionError, ConfigError, ControlError, ResultsError
from corekit.roles.body_inputs import BodyInputs
from corekit.roles.component import Seeded, Stateful
from corekit.roles.controller import Controller
from corekit.roles.model import Channel, ModelDescription
from corekit.scenario.load import loads
from corekit.simulation.controllers import Turn

PENDULUM = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.3, step = 0.01 }
output = { every = 0.01 }
integrator = { use = "reference-implicit-euler" }
[[bodies]]
name = "arm"
use = "reference-pendulum"
options = { lengths = [0.5, 0.3], masses = [1.0, 2.0], angles = [0.4, 0.9], rates = [0.0, 0.0] }
"""
SIGNAL = '[[bodies.inputs]]\nchannel = "torque"\nsignal = { kind = "sine", amplitude = [1.0, 2.0], frequency = 1.0 }\n'


@final
class Noisy(Controller, Stateful, Seeded):
    """An integral of the first angle beside noise, stopped once at a time if told so."""

    def __init__(self, stop_at=np.inf):
        self.sum, self.stop_at = 0.0, stop_at
        self.reseed(0)

    def reseed(self, seed):
        self.seed, self.stream = seed, np.random.default_rng(seed)

    def compute_inputs(self, world):
        if world.time > self.stop_at:
            self.stop_at = np.inf
            raise KeyboardInterrupt
        self.sum += world.state.q[0]
        return {"arm": {"torque": [-self.sum, self.stream.normal()]}}

    def internal_state(self):
        words = self.stream.bit_generator.state["state"]
        whole = words["state"].to_bytes(16, "little") + words["inc"].to_bytes(16, "little")
        return {"sum": np.array(self.sum), "stream": np.frombuffer(whole, dtype=np.uint8)}

    def restore(self, internal_state):
        self.sum = float(internal_state.get("sum", 0.0))
        self.reseed(self.seed)
        if "stream" in internal_state:
            whole = bytes(internal_state["stream"])
            state = {
                "state": int.from_bytes(whole[:16], "little"),
                "inc": int.from_bytes(whole[16:], "little"),
            }
            self.stream.bit_generator.state = {**self.stream.bit_generator.state, "state": state}


def test_a_written_torque_that_balances_gravity_holds_the_pendulum_at_rest():
    sim = loads(PENDULUM).compose()
    carried, lengths = np.array([3.0, 2.0]), np.array([0.5, 0.3])
    sim.inputs["arm"]["torque"] = 9.81 * carried * lengths * np.sin([0.4, 0.9])
    sim.run(0.3)
    # rounding of torques of 10 N·m, integrated over 30 steps of inertia ≥ 0.1 kg·m²
    np.testing.assert_allclose(sim.state.q, [0.4, 0.9], atol=1e-12)


def test_a_frame_moves_as_the_difference_of_its_positions_says():
    sim = loads(PENDULUM).compose()
    sim.run(0.2)
    frame, around = sim.frame("arm.mass1"), sim.system.new_state()
    ends = []
    for step in (-1e-6, 1e-6):
        sim.system.integrate(sim.state, sim.state.v, step, sim.state, around)
        positions, rotations = np.zeros((2, 3)), np.zeros((2, 3, 3))
        sim.bodies[0].model.compute_frame_poses(around.body_states[0], positions, rotations)
        ends.append((positions[1], rotations[1]))
    np.testing.assert_allclose(frame.velocity, (ends[1][0] - ends[0][0]) / 2e-6, atol=1e-8)
    np.testing.assert_allclose(frame.velocity, frame.jacobian @ sim.state.v, atol=1e-15)
    spin = (ends[1][1] - ends[0][1]) / 2e-6 @ frame.rotation.T
    np.testing.assert_allclose(frame.angular_velocity, [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_a_slip_in_the_channel_of_a_signal_is_answered_by_the_one_meant():
    with pytest.raises(CompositionError, match="no input channel 'torqe', did you mean 'torque'"):
        loads(PENDULUM + SIGNAL.replace("torque", "torqe")).compose()


def test_contacts_have_names_and_forces():
    floor = '[[world.obstacles]]\nname = "table"\nshape = "half-space"\n'
    ball = '[[bodies]]\nname = "ball"\nuse = "reference-pendulum"\nbase = { position = [0.0, 0.0, 0.3] }\n'
    options = "options = { lengths = [1.0], angles = [1.3], rates = [0.0], radius = 0.05 }\n"
    contact = '[contact]\ndetector = "reference-detector"\nsolver = "reference-gauss-seidel"\n'
    head = PENDULUM[: PENDULUM.index("[[bodies]]")].replace("implicit-euler", "semi-implicit-euler")
    sim = loads(head + floor + ball + options + contact).compose()
    sim.run(2.0)
    touching = sim.contacts()
    assert touching.names == (("ball", "table"),)
    # at rest, m·g·sin θ·l of gravity about the hinge is balanced by N·l·sin θ: N = m·g
    np.testing.assert_allclose(touching.force, [[0.0, 0.0, 9.81]], rtol=1e-6, atol=1e-9)


def test_a_function_is_sampled_once_a_period_and_held():
    seen, recorded = [], []

    def ramp(sim):
        seen.append(round(sim.time / 0.01))
        return {"arm": {"torque": sim.time}}

    sim = loads(PENDULUM).with_controller(ramp, every=0.03).compose()
    sim.observe(lambda sim, report: recorded.append(sim.bodies[0].inputs.value_at(sim.time)[0]))
    sim.run(0.09)
    assert seen == [0, 3, 6]
    np.testing.assert_allclose(recorded, np.repeat([0.0, 0.03, 0.06], 3), atol=1e-15)


def test_a_written_channel_leaves_its_signal_until_the_reset():
    driven, free = loads(PENDULUM + SIGNAL).compose(), loads(PENDULUM).compose()
    driven.inputs["arm"]["torque"] = 0.0
    driven.run(0.3)
    free.run(0.3)
    np.testing.assert_array_equal(driven.state.q, free.state.q)
    driven.reset()
    driven.run(0.3)
    untouched = loads(PENDULUM + SIGNAL).compose()
    untouched.run(0.3)
    np.testing.assert_array_equal(driven.state.q, untouched.state.q)


def test_a_resumed_run_ends_in_the_same_bits(tmp_path, monkeypatch):
    pytest.importorskip("corekit_record")
    resume = pytest.importorskip("corekit_run.running").resume
    monkeypatch.setattr("corekit_run.checkpoint._EVERY", 0.0)
    monkeypatch.setattr("corekit_run.checkpoint._SHARE", 1e9)
    whole = loads(PENDULUM).with_controller(Noisy(), every=0.02).run(directory=tmp_path / "whole")
    scenario = loads(PENDULUM).with_controller(Noisy(stop_at=0.15), every=0.02)
    with pytest.raises(KeyboardInterrupt):
        scenario.run(directory=tmp_path / "cut")
    before = {path: path.read_bytes() for path in (tmp_path / "cut").rglob("*")}
    with pytest.raises(ControlError, match="with_controller"):
        resume(tmp_path / "cut")
    with pytest.raises(ControlError, match=r"'controller' sampled every 2 steps, which .* every 3: .*period"):
        resume(tmp_path / "cut", loads(PENDULUM).with_controller(Noisy(), every=0.03))
    other = loads(PENDULUM).with_controller(Noisy(), every=0.02).with_controller(Noisy(), name="other")
    with pytest.raises(ResultsError, match="cut began without the controller other: resume it without"):
        resume(tmp_path / "cut", other)
    assert before == {path: path.read_bytes() for path in (tmp_path / "cut").rglob("*")}
    again = resume(tmp_path / "cut", loads(PENDULUM).with_controller(Noisy(), every=0.02))
    assert np.ptp(whole.inputs[:, 1]) > 0.1
    np.testing.assert_array_equal(whole.inputs, again.inputs)
    np.testing.assert_array_equal(whole.q, again.q)


def test_reset_returns_to_the_start_with_another_seed_state_or_parameter():
    sim = loads(PENDULUM).with_controller(Noisy()).compose()

    def end(**options):
        sim.reset(**options)
        sim.run(0.1)
        return sim.state.q.copy()

    first = end()
    np.testing.assert_array_equal(end(), first)
    seeded = end(seed=3)
    assert (seeded != first).any()
    np.testing.assert_array_equal(end(seed=3), seeded)
    kept = sim.internal_state()
    sim.run(0.2)
    later = sim.state.q.copy()
    sim.reset(state=kept)
    sim.run(0.2)
    np.testing.assert_array_equal(sim.state.q, later)
    turned = sim.system.new_state()
    turned.q[:] = 0.1
    sim.reset(state=turned)
    np.testing.assert_array_equal(sim.state.q, [0.1, 0.1])
    other = end(parameters={"bodies.arm.options.masses": (1.5, 2.0)})
    fresh = loads(PENDULUM, ["bodies.arm.options.masses=[1.5, 2.0]"]).with_controller(Noisy()).compose()
    fresh.run(0.1)
    np.testing.assert_array_equal(other, fresh.state.q)


@pytest.mark.parametrize(
    ("controller", "said"),
    [
        (lambda sim: {"leg": {"torque": 1.0}}, "there is no body 'leg'"),
        (lambda sim: {"arm": {"pull": 1.0}}, "no channel 'pull'; this body has torque"),
        (lambda sim: {"arm": {"torque": [1.0, 2.0, 3.0]}}, "takes 2 finite numbers"),
        (lambda sim: {"arm": {"torque": np.nan}}, "takes 2 finite numbers"),
        (lambda sim: [1.0, 2.0], "must return inputs by body and channel"),
    ],
)
def test_wrong_inputs_are_refused_in_one_sentence(controller, said):
    sim = loads(PENDULUM).with_controller(controller).compose()
    with pytest.raises(ControlError, match=said):
        sim.step()


def test_a_channel_that_a_controller_drops_is_told():
    """It would hold its last value for ever."""
    sim = loads(PENDULUM).with_controller(lambda sim: {"arm": {"torque": 1.0}} if sim.time < 0.025 else {})
    with pytest.raises(
        ControlError, match=r"controller 'controller' drove arm\.torque at its last .* at t = 0\.03 s"
    ):
        sim.compose().run(0.1)


def test_a_controller_may_begin_late_and_again_after_a_reset():
    begins = loads(PENDULUM).with_controller(lambda sim: {"arm": {"torque": 1.0}} if sim.time > 0.02 else {})
    sim = begins.compose()
    sim.run(0.05)
    sim.reset()
    sim.run(0.05)


def test_two_sources_of_one_channel_are_refused():
    zero = {"arm": {"torque": 0.0}}
    sim = loads(PENDULUM + SIGNAL).with_controller(lambda sim: zero, name="hold").compose()
    with pytest.raises(
        ControlError, match="has a signal in the scenario, and controller 'hold' drives it too"
    ):
        sim.step()
    sim = loads(PENDULUM).with_controller(lambda sim: zero, name="hold").compose()
    sim.step()
    with pytest.raises(ControlError, match="controller 'hold' drives channel 'torque'"):
        sim.inputs["arm"]["torque"] = 1.0
    sim.add_controller(lambda sim: zero, name="other")
    with pytest.raises(ControlError, match="both controller 'hold' and controller 'other'"):
        sim.step()
    with pytest.raises(ConfigError, match="whole number of steps"):
        sim.add_controller(lambda sim: zero, name="third", every=0.015)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda sim: sim.frame("arm.tip"), "no frame 'arm.tip'; body 'arm' has arm.mass0, arm.mass1$"),
        (lambda sim: sim.frame("arm.mass2"), "no frame 'arm.mass2', did you mean 'arm.mass"),
        (lambda sim: sim.frame("amr.mass1"), "no body 'amr', did you mean 'arm'"),
        (lambda sim: sim.inputs["amr"], "no body 'amr', did you mean 'arm'"),
        (lambda sim: sim.frame("mass1"), "no frame 'mass1': names are body.frame, for example 'arm.mass0'"),
        (lambda sim: sim.frame(3), "no frame 3: names are body.frame, for example 'arm.mass0'"),
    ],
)
def test_a_name_that_is_not_there_is_answered_by_those_that_are(ask, said):
    sim = loads(PENDULUM).compose()
    with pytest.raises(ControlError, match=said):
        ask(sim)
    assert "amr" not in sim.inputs
    sim.add_controller(ask, name="lost")
    with pytest.raises(ControlError, match=f"controller 'lost': there is {said}"):
        sim.step()


def test_inputs_are_written_by_channel_and_a_run_has_an_end():
    sim: Any = loads(PENDULUM).compose()
    with pytest.raises(
        ControlError, match=r"write a channel of 'arm', as in inputs\['arm'\]\[CHANNEL\] = 1.0"
    ):
        sim.inputs["arm"] = 1.0
    with pytest.raises(ControlError, match="until a finite time, not nan s"):
        sim.run(math.nan)


def tensions(signals=None):
    channel = Channel("tension", "N", 2, lower=0.0, upper=50.0, sign="pulls")
    description = ModelDescription(coordinates=(), velocities=(), inputs=(channel,))
    return BodyInputs(description, signals or {}, "bodies.arm.inputs")


def test_written_inputs_are_clipped_to_the_bounds_and_that_is_said_once():
    inputs, said = tensions(), []
    inputs.warn = said.append
    inputs["tension"] = [-1.0, 60.0]
    np.testing.assert_array_equal(inputs["tension"], [0.0, 50.0])
    inputs["tension"] = -2.0
    assert len(said) == 1
    assert "[-1.0, 60.0] for channel 'tension' is outside its bounds [0, 50] N" in said[0]


@pytest.mark.parametrize(
    ("signal", "refused"),
    [
        (Constant(-1.0), True),
        (Sine(amplitude=10.0, frequency=1.0), True),
        (Ramp(begin=0.2, end=0.3, value=60.0), True),
        (Sine(offset=10.0, amplitude=10.0, frequency=1.0, phase=np.pi), False),
        (Ramp(begin=0.2, end=3.0, value=60.0), False),
    ],
)
def test_a_signal_outside_the_bounds_is_refused(signal, refused):
    inputs = tensions({"tension": signal})
    if not refused:
        inputs.check_bounds(1.0)
        return
    with pytest.raises(CompositionError, match=r"outside its bounds \[0, 50\]: pulls"):
        inputs.check_bounds(1.0)


def announcements(caplog):
    """Loggers that announced compilation; that numba compiles alone is another sentence."""
    return [record.name for record in caplog.records if record.message.startswith("compiling kernels")]


def test_compiling_from_python_is_announced_once(caplog):
    kernel = compiled(lambda x: x + 1.0)
    with announced_compilation():
        for _ in range(2):  # as numba says it, whether or not the kernel was compiled by an earlier run
            event.broadcast(event.Event("numba:compile", event.EventStatus.START, {"dispatcher": kernel}))
    assert announcements(caplog) == ["corekit"]


@pytest.mark.parametrize("go", [lambda sim: [sim.step(), sim.step()], lambda sim: sim.run(0.02)])
def test_the_first_step_announces_what_it_compiles(go, caplog):
    """Without it a step that nobody warmed up for takes a minute in silence."""
    kernel = compiled(lambda x: x + 1.0)

    def compile_again(_sim):
        event.broadcast(event.Event("numba:compile", event.EventStatus.START, {"dispatcher": kernel}))
        return {}

    go(loads(PENDULUM).with_controller(compile_again).compose())
    assert announcements(caplog) == ["corekit"]


def test_a_simulation_that_another_thread_steps_says_so_and_goes_on():
    """Eight threads in one simulation wrote into the same buffers, and the step blamed the integrator."""
    simulation, alone = loads(PENDULUM).compose(), loads(PENDULUM).compose()
    inside, leave = threading.Event(), threading.Event()

    def wait(_simulation, _report):
        inside.set()
        assert leave.wait(60.0)

    simulation.observe(wait)
    stepping = threading.Thread(target=simulation.step)
    stepping.start()
    assert inside.wait(60.0)
    kept = alone.internal_state()
    for refused in (simulation.step, lambda: simulation.restore(kept), simulation.reset):
        with pytest.raises(ControlError, match="another thread steps or restores this simulation now"):
            refused()
    leave.set()
    stepping.join(60.0)
    simulation.step()
    for _ in range(2):
        alone.step()
    assert np.array_equal(simulation.state.q, alone.state.q)


def test_whoever_finds_an_answer_awaited_is_refused_though_it_comes_meanwhile():
    """Another thread leaves as soon as it was seen; the block ran then, and its lock was open when it ended."""
    turn = Turn()

    class Answering(str):
        def __bool__(self):
            turn._asked = ""
            return True

    turn._asked = Answering("controller 'slow'")
    with pytest.raises(ControlError, match="controller 'slow' must not step"), turn:
        pytest.fail("the block ran")
    with turn:
        pass


def test_a_step_that_fails_gives_the_simulation_back():
    simulation = loads(PENDULUM).compose()

    def break_off(_simulation, _report):
        raise ZeroDivisionError

    simulation.observe(break_off)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            simulation.step()
