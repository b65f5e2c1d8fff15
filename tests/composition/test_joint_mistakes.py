"""Joints and mounts that cannot be: what is said instead."""

import re

import pytest
from attrs import evolve

from corekit.errors import CompositionError, ConfigError, ControlError
from corekit.scenario.component_selection import composition_errors, select_components
from corekit.scenario.load import loads

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_timestep")

TWO = """
format = "corekit-scenario/1"
name = "joints"
time = { duration = 1.0, step = 1e-3 }
output = { every = 1e-2 }
integrator = { use = "implicit-midpoint" }
[[bodies]]
name = "carrier"
use = "rigid"
options = { shape = "box", size = [0.4, 0.1, 0.2], mass = 2.0 }
[[bodies]]
name = "load"
use = "rigid"
base = { mount = "carrier.body", position = [0.3, 0.0, 0.05] }
options = { shape = "sphere", size = [0.05], mass = 1.0 }
"""
JOINT = '\n[[joints]]\nname = "second"\nkind = "weld"\nbetween = ["load.body", "carrier.body"]\n'


@pytest.mark.parametrize(
    ("text", "override", "said"),
    [
        (TWO, "bodies[1].base.mount=carrier.tip", "must be one of carrier.body"),
        (TWO, "bodies[1].base.mount=carier.body", "did you mean"),
        (TWO, "bodies[1].base.mount=load.body", "must be a frame, BODY.FRAME, of carrier"),
        (TWO, "bodies[0].base={mount='load.body'}", "mounted in a circle: carrier on load on carrier"),
        (TWO, "bodies[1].base.position={kind='sine',amplitude=[0,0,1],frequency=1}", "must be numbers"),
        (TWO + JOINT, "joints[0].name=third", "holds what other joints"),
        (TWO + JOINT, "joints[0].between=['world','load.body']", "must be a frame, BODY.FRAME"),
        (TWO + JOINT, "joints[0].between=['load.body','load.body']", "must be of two bodies"),
        (TWO + JOINT, "joints[0].kind=glue", "one of 'weld', 'hinge', 'ball'"),
        (TWO + JOINT, "joints[0].axis=[0,0,0]", "must not be zero"),
        (
            TWO,
            "bodies[1].initial.position=[0.1,0,0]",
            "must leave the position of the base out, which `base.mount` decides",
        ),
        (TWO, "bodies[1].initial.rotation_rpy=[0.1,0,0]", "must leave the rotation of"),
        (TWO, "bodies[1].initial.velocity=[0,0,1]", "must leave the velocity of"),
        (TWO, "bodies[1].initial.angular_velocity=[0,0,1]", "must leave the angular velocity of"),
    ],
)
def test_what_cannot_be_held_is_refused(text, override, said):
    with pytest.raises((ConfigError, CompositionError)) as caught:
        loads(text, [override]).compose()
    assert said in str(caught.value)


def test_a_carrier_that_turns_about_its_centre_carries_as_well():
    turning = ["bodies[0].options.fixed_centre=true", "bodies[0].initial={angular_velocity=[0,0,1]}"]
    simulation = loads(TWO, turning).compose()
    before = simulation.frame("load.body").position.copy()
    for _ in range(100):
        simulation.step()
    after = simulation.frame("load.body").position
    # a midpoint step keeps positions to (h·ω)², with ω of some 3 rad/s as the load falls
    assert (after**2).sum() == pytest.approx((before**2).sum(), rel=2 * (1e-3 * 3.0) ** 2)
    assert after[1] > 0.02


def test_a_model_whose_base_stands_is_refused_and_others_are_named():
    """Every model of this repository can be mounted, so one is asked without its ability."""
    chosen = select_components(loads(TWO))
    rigid = chosen.models["load"]
    standing = evolve(rigid, name="standing", provides=rigid.provides - {"free-base"})
    (said,) = composition_errors(evolve(chosen, models={**chosen.models, "load": standing}))
    assert re.search(r"body 'load' \(standing\).*a base that moves.*rigid", said)


def test_tools_that_know_one_body_alone_say_so():
    pytest.importorskip("corekit_statics")
    study = pytest.importorskip("corekit_study.plan")
    statics = pytest.importorskip("corekit_statics.equilibria")
    simulation = loads(TWO).compose()
    with pytest.raises(CompositionError, match="let a run with damping come to rest"):
        statics.move_to_equilibrium(simulation)
    with pytest.raises(CompositionError, match="planning does not know joints"):
        study.planning_task(simulation)
    with pytest.raises(ControlError, match=r"there is no joint 'wrist'; there are load\.base"):
        simulation.joint_force("wrist")
