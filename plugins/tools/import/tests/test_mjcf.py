"""MJCF arms: the same equations whichever way a file writes them, and in one sentence what is not read."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.scenario.load import from_document
from corekit_import.doubts import import_doubts

from .conftest import C1, C2, I1, I2, L1, M1, M2, PENDULUM, balance, block, document

# the pendulum of the URDF: the upper arm's body stands at its middle, its joint away from it; axes turned by 90°
SAME = f"""
<mujoco>
  <compiler angle="degree"/>
  <default><joint damping="0.2" frictionloss="0.1"/><default class="free"><joint damping="0"/></default></default>
  <worldbody>
    <light pos="0 0 1"/>
    <geom type="plane" size="1 1 1"/>
    <body name="upper arm" pos="{C1} 0 0" euler="0 0 90">
      <joint name="shoulder" axis="1 0 0" pos="0 {C1} 0" range="-114.591559026 114.591559026"/>
      <inertial pos="0 0 0" mass="{M1}" diaginertia="0.001 {I1} {I1}" quat="1 0 0 1"/>
      <geom type="capsule" size="0.02" fromto="0 -0.2 0 0 0.2 0"/>
      <body name="forearm" pos="0 {C1 - L1} 0" childclass="free">
        <joint name="elbow" axis="1 0 0"/>
        <inertial pos="0 {-C2} 0" mass="{M2}" fullinertia="{I2} 0.001 {I2} 0 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="60" ctrlrange="-0.5 0.5"/><motor joint="elbow"/></actuator>
</mujoco>"""


def test_an_arm_of_mjcf_moves_like_that_of_urdf(compose):
    # turned by 90° about z, the upper arm's x is y of the world and its −y is x
    one, two = compose(PENDULUM), compose(SAME, "arm.xml")
    q, v, u = np.array([0.4, -1.1]), np.array([1.3, -0.7]), np.array([2.0, -1.0])
    assert [channel.name for channel in two.description.inputs] == ["joint-upper_arm", "joint-forearm"]
    assert two.description.inputs[0].upper == 30.0
    for a, b in zip(balance(one, q, v, u), balance(two, q, v, u), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_a_check_tells_of_the_geoms_of_the_world(tmp_path):
    (tmp_path / "arm.xml").write_text(SAME)
    robot = {"limits": False, "friction": False}
    scenario = from_document(document("arm.xml", **robot), source=tmp_path / "scenario.toml")
    (said,) = import_doubts(scenario, None)
    assert said.startswith("bodies.arm: arm.xml: 1 geoms of the world are left out")


def test_a_check_tells_of_options_that_would_move_the_robot_otherwise(tmp_path):
    option = '<option gravity="0 0 -1.62" density="1.2" wind="0.0 0 0"><flag damper="disable"/></option>'
    (tmp_path / "arm.xml").write_text(SAME.replace("<worldbody>", f"{option}<worldbody>", 1))
    robot = {"limits": False, "friction": False}
    said = import_doubts(from_document(document("arm.xml", **robot), source=tmp_path / "scenario.toml"), None)
    for each in ("gravity='0 0 -1.62'> is left out", "density='1.2'> is left out", "<flag damper='disable'>"):
        assert sum(each in sentence for sentence in said) == 1
    assert len(said) == 4


@pytest.mark.parametrize(
    ("joint", "motor", "limit"),
    [
        ("", "", np.inf),
        ("", 'gear="3" ctrlrange="-2 2"', 6.0),
        ('actuatorfrcrange="-5 5"', 'gear="3" ctrlrange="-2 2"', 5.0),
        ('actuatorfrcrange="-5 5"', "", 5.0),
        ('actuatorfrcrange="-9 9"', 'gear="3" forcerange="-2 2"', 6.0),
        ('actuatorfrcrange="-5 5" actuatorfrclimited="false"', "", np.inf),
        ("", 'ctrlrange="-2 2"/><motor joint="j" gear="2" ctrlrange="-3 3"', 8.0),
        ("", 'ctrlrange="-2 2"/><motor joint="j"', np.inf),
    ],
)
def test_a_motor_pushes_no_harder_than_its_joint_allows(compose, joint, motor, limit):
    """MuJoCo clamps gear·force of each motor, and their sum to the range of the joint."""
    body = f'<body name="b"><joint name="j" {joint}/><geom size="0.1"/></body>'
    motors = f'<actuator><motor joint="j" {motor}/></actuator>'
    model = compose(f"<mujoco><worldbody>{body}</worldbody>{motors}</mujoco>", "arm.xml")
    (channel,) = model.description.inputs
    assert (channel.lower, channel.upper) == (-limit, limit)


OBLIQUE = """
<mujoco>
  <compiler eulerseq="XYZ" meshdir="m"/>
  <default><joint damping="0.1" armature="0.01"/><geom density="800"/>
    <default class="b"><joint type="slide" stiffness="3"/><geom type="box" size="0.05 0.06 0.07"/></default></default>
  <asset><mesh name="cube" file="cube.stl" scale="1 2 3"/></asset>
  <worldbody>
    <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="j1" axis="0 1 1" pos="0.05 0 0.1"/>
      <joint name="j2" axis="1 0 0.3" pos="0 0.02 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0.1 0"/>
      <geom type="sphere" size="0.04" pos="0 0.1 0" mass="0.3"/>
      <body name="b" pos="0.3 0.1 0" axisangle="1 1 0 40" childclass="b">
        <joint name="j3" axis="0 0 1" pos="0.1 0.1 0.1"/>
        <geom pos="0.02 0 0" zaxis="1 1 1"/>
        <geom type="cylinder" size="0.03 0.1" xyaxes="1 1 0 0 1 1"/>
        <geom type="ellipsoid" size="0.03 0.1 0.05" contype="0" conaffinity="0" pos="0.1 0 0"/>
        <body name="c" pos="0 0 0.2" quat="0.5 0.1 0.2 0.3">
          <joint name="j4" type="hinge" stiffness="0" axis="1 2 3"/>
          <geom type="mesh" mesh="cube" pos="0.1 0 0" quat="1 0 1 0"/>
          <body name="d" pos="0.1 0 0.1"><joint name="j5" type="ball" stiffness="0"/>
            <inertial pos="0.1 0.02 0" mass="0.4" fullinertia="0.002 0.003 0.004 0.0001 0.0002 0.0003"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
# MuJoCo 4.0 at this q and v, the ball joint at rest: qfrc_passive − qfrc_bias, and the first row of M
Q = [0.1369616873214543, -0.2302132862361297, -0.4590264760638053, -0.4834723644714709]
V = [-0.535669373161111, 0.36159505490948474, 1.3040000451301372, 0.9470809631292422, 0.0, 0.0, 0.0]
FORCE = [
    -9.994501854482047, -17.928329204831503, -38.137070722753606, -3.318219832444019, -0.0032289847205396738,
    0.024996435479692325, -0.3773807102893711,
]  # fmt: skip
ROW = [
    1.9186964140444314, 0.36389063567671487, -2.5442933452328336, 0.20193768669748913, -0.00398839385094002,
    0.025029990230451733, 0.003847594068069125,
]  # fmt: skip


def test_oblique_joints_and_geoms_of_all_kinds_weigh_what_mujoco_says(compose, tmp_path):
    (tmp_path / "m").mkdir()
    block((0.1, 0.1, 0.1)).export(tmp_path / "m" / "cube.stl")
    model = compose(OBLIQUE, "arm.xml")
    state = State.zeros(7, 7, model.description.aux)
    model.compute_initial_state(None, state)
    state.q[:4], state.v[:] = Q, V
    M, force = model.new_mass_matrix(), np.zeros(7)
    model.compute_mass_and_force(state, np.zeros(0), M, force)
    # the STL's corners are in single precision
    np.testing.assert_allclose(force, FORCE, rtol=1e-6)
    np.testing.assert_allclose(M.dense()[0], ROW, rtol=1e-6)
    assert [shape.kind for shape in model.description.shapes] == [
        "capsule",
        "sphere",
        "box",
        "cylinder",
        "polytope",
    ]


BODY = '<worldbody><body name="b">{}<geom size="0.1"/></body></worldbody>'


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (BODY.format("<joint/>") + "<equality/>", "<equality>.*<equality> is not read"),
        (BODY.format("<joint/><frame/>"), "<frame> is not read"),
        (BODY.format('<joint springref="10"/>'), "springref must be 0"),
        (BODY.format('<joint springdamper="0.1 1"/>'), "springdamper is not read: give the stiffness"),
        (BODY.format('<joint actuatorfrcrange="-1 2"/>'), "actuatorfrcrange must reach as far to both sides"),
        (BODY.format('<joint type="free" armature="0.1"/>'), "armature of a free joint is not read"),
        (BODY.format('<joint type="screw"/>'), "type='screw': must be hinge, slide, ball, free"),
        (BODY.format('<joint range="20 10"/>'), "range='20 10'"),
        (BODY.format('<joint axis="0 0 0"/>'), "axis must not be zero"),
        (BODY.format('<joint class="no"/>'), "class='no' is no <default>"),
        (BODY.format('<joint/><geom type="hfield"/>'), "a hfield is not read"),
        (BODY.format('<joint/><geom type="mesh" mesh="m"/>'), "mesh='m' is no <mesh>"),
        (BODY.format('<joint/><geom size="0"/>'), "sizes must be above 0"),
        (BODY.format('<joint/><geom size="1e-320" mass="1"/>'), "must have a volume above 0"),
        (
            BODY.format('<joint name="j"/>') + '<actuator><position joint="j"/></actuator>',
            'a servo <position> is a controller\'s matter — .*motors = "all"',
        ),
        (
            BODY.format('<joint name="j"/>') + '<actuator><motor joint="j" ctrlrange="0 1"/></actuator>',
            "ctrlrange must reach as far to both sides",
        ),
        ("", "must have a <body>"),
        (
            BODY.format('<joint/><inertial diaginertia="1 1 1"/>'),
            "<inertial>.*must have a mass, and diaginertia",
        ),
        (BODY.format('<joint/><inertial mass="1"/>'), "<inertial>.*must have a mass, and diaginertia"),
        (BODY.format('<joint axs="1 0 0"/>'), "<joint>.*'axs' is not read, did you mean 'axis'"),
        (BODY.format("<joint/>").replace('size="0.1"', 'size="0.1" densty="9"'), "'densty' is not read"),
        (
            BODY.format("<joint/>").replace('name="b"', 'name="b" eulr="0 0 9"'),
            "'eulr' is not read, did you mean 'euler'",
        ),
        (BODY.format("<joint/>") + '<default><geom frction="1"/></default>', "'frction' is not read"),
        (BODY.format('<joint/><geom size="0.1" shellinertia="true"/>'), "a shell's inertia is not read"),
        *(
            (
                f"<compiler {changes}/>" + BODY.format("<joint/>"),
                "is not read, which gives bodies another mass",
            )
            for changes in (
                'inertiafromgeom="true"',
                'settotalmass="5"',
                'boundmass="1e-3"',
                'boundinertia="1"',
                'balanceinertia="true"',
                'inertiagrouprange="0 2"',
            )
        ),
    ],
)
def test_what_is_not_read_is_refused_in_one_sentence(tmp_path, inside, said):
    (tmp_path / "arm.xml").write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(ConfigError, match=said) as refused:
        from_document(document("arm.xml"), source=tmp_path / "scenario.toml")
    assert len(refused.value.mistakes) == 1


def test_what_says_the_defaults_and_what_is_of_no_matter_here_is_read(compose):
    """All attributes of a geom that MuJoCo knows, and its own values of those that would change masses."""
    geom = 'size="0.1" condim="3" priority="1" solmix="1" solref="0.02 1" gap="0" rgba="1 0 0 1" shellinertia="false"'
    compiler = '<compiler inertiafromgeom="auto" settotalmass="-1" boundmass="0" inertiagrouprange="0  5"/>'
    body = f'<body name="b"><joint solreflimit="0.02 1" springdamper="0 0"/><geom {geom}/></body>'
    model = compose(f"<mujoco>{compiler}<worldbody>{body}</worldbody></mujoco>", "arm.xml")
    (mass, _) = balance(model, np.zeros(1), np.zeros(1), np.zeros(len(model.description.inputs)))
    np.testing.assert_allclose(mass, [[0.4 * 4 / 3 * np.pi * 0.1**3 * 1000 * 0.1**2]], rtol=1e-12)


def test_a_mesh_that_overlaps_touches_as_its_pieces_and_is_refused_where_it_weighs(tmp_path, write):
    write(trimesh.util.concatenate([block((1.0, 0.1, 0.1)), block((0.1, 1.0, 0.1))]), "bars.stl")
    text = (
        '<mujoco><asset><mesh name="bars" file="bars.stl"/></asset><worldbody><body name="a">{}<joint/>'
        '<geom type="mesh" mesh="bars"/></body></worldbody></mujoco>'
    )
    given = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    (tmp_path / "arm.xml").write_text(text.format(given))
    said = document("arm.xml", convex="pieces")
    (link,) = from_document(said, source=tmp_path / "scenario.toml").bodies[0].options["links"]
    assert len(link["solids"]) == 2
    (tmp_path / "arm.xml").write_text(text.format(""))
    with pytest.raises(
        ConfigError, match=r"<mesh name=\"bars\">.*mesh 'bars.stl' must fill no place twice: 5"
    ):
        from_document(document("arm.xml", convex="pieces"), source=tmp_path / "scenario.toml")
