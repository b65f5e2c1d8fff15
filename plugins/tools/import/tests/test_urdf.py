"""URDF arms against the equations of motion, products of transforms, and in one sentence what they may not hold."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.scenario.load import from_document
from corekit_import.doubts import import_doubts
from corekit_import.read_robot import robot_links
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader

from .conftest import C1, C2, I1, I2, L1, M1, M2, PENDULUM, balance, block, document


def test_a_double_pendulum_has_the_equations_of_the_textbook(compose):
    model = compose(PENDULUM)
    assert [channel.name for channel in model.description.inputs] == ["joint-upper_arm", "joint-forearm"]
    assert model.description.inputs[0].upper == 30.0
    (a, b), (da, db), u, g = (0.4, -1.1), (1.3, -0.7), (2.0, -1.0), 9.81
    M, f = balance(model, (a, b), (da, db), u)
    bend = M2 * L1 * C2
    M12 = I2 + M2 * C2**2 + bend * np.cos(b)
    M11 = I1 + M1 * C1**2 + M2 * L1**2 + bend * np.cos(b) + M12
    np.testing.assert_allclose(M, [[M11, M12], [M12, I2 + M2 * C2**2]], rtol=1e-12)
    # about +y positive angles sink
    weight = M2 * C2 * g * np.cos(a + b)
    coriolis = bend * np.sin(b) * np.array([-(2 * da * db + db**2), da**2])
    expected = np.array([(M1 * C1 + M2 * L1) * g * np.cos(a) + weight - 0.2 * da, weight]) - coriolis + u
    np.testing.assert_allclose(f, expected, rtol=1e-12)


def six_joints(rng):
    """A 6-joint arm with oblique axes and origins, and what stands in it."""
    joints, text = [], '<robot name="six"><link name="base"/>'
    for i in range(6):
        xyz, rpy, axis = rng.normal(size=3) * 0.3, rng.uniform(-3, 3, 3), rng.normal(size=3)
        kind = "prismatic" if i == 3 else "continuous"
        limit = '<limit lower="-1" upper="1" effort="9"/>' if i == 3 else ""
        numbers = [" ".join(map(repr, map(float, each))) for each in (xyz, rpy, axis)]
        text += (
            f'<link name="l{i}"><inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/><mass value="1.2"/>'
            f'<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial></link>'
            f'<joint name="j{i}" type="{kind}"><parent link="{f"l{i - 1}" if i else "base"}"/><child link="l{i}"/>'
            f'<origin xyz="{numbers[0]}" rpy="{numbers[1]}"/><axis xyz="{numbers[2]}"/>{limit}</joint>'
        )
        joints.append((xyz, rpy, axis / np.linalg.norm(axis), kind))
    return text + "</robot>", joints


def test_a_six_joint_arm_reaches_where_products_of_transforms_lead(compose):
    rng = np.random.default_rng(3)
    text, joints = six_joints(rng)
    model, q = compose(text), rng.uniform(-1, 1, 6)
    state = State.zeros(6, 6)
    state.q[:] = q
    frames = model.description.frames
    position, rotation = np.zeros((len(frames), 3)), np.zeros((len(frames), 3, 3))
    model.compute_frame_poses(state, position, rotation)
    p, R = np.zeros(3), Rotation.identity()
    for i, (xyz, rpy, axis, kind) in enumerate(joints):
        p, R = p + R.apply(xyz), R * Rotation.from_euler("xyz", rpy)
        if kind == "prismatic":
            p = p + R.apply(q[i] * axis)
        else:
            R = R * Rotation.from_rotvec(q[i] * axis)
        at = frames.index(f"l{i}.base")
        np.testing.assert_allclose(position[at], p, atol=1e-14 * 10)  # six products of numbers near 1
        np.testing.assert_allclose(rotation[at], R.as_matrix(), atol=1e-14 * 10)


def test_a_six_joint_arm_keeps_its_energy(compose):
    """v̇ = M⁻¹·f by Runge–Kutta's rule of order 4: halving the step takes 16 times the error."""
    rng = np.random.default_rng(3)
    model = compose(six_joints(rng)[0])
    M, _ = balance(model, rng.uniform(-1, 1, 6), np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(M, M.T, atol=1e-14 * np.abs(M).max())
    assert np.linalg.eigvalsh(M)[0] > 0

    def rate(y):
        M, f = balance(model, y[:6], y[6:], np.zeros(6))
        return np.concatenate([y[6:], np.linalg.solve(M, f)])

    def energy(y):
        state = State.zeros(6, 6)
        state.q[:], state.v[:] = y[:6], y[6:]
        return sum(model.compute_energies(state))

    def drift(count):
        y, h = np.concatenate([np.full(6, 0.2), np.full(6, 0.5)]), 0.2 / count
        start = energy(y)
        for _ in range(count):
            a = rate(y)
            b = rate(y + h / 2 * a)
            c = rate(y + h / 2 * b)
            y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
        return abs(energy(y) - start)

    assert drift(80) < drift(40) / 12
    assert drift(80) < 1e-6


def test_of_a_link_with_shapes_its_shapes_alone_are_drawn(compose):
    """A line from joint to joint, which touches nothing, shows links that have none."""
    box = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    tensor = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
    inertia = f'<inertial><mass value="1"/>{tensor}</inertial>'
    model = compose(
        f'<robot name="r"><link name="base"/><link name="bare">{inertia}</link><link name="boxed">{inertia}{box}</link>'
        '<joint name="a" type="continuous"><parent link="base"/><child link="bare"/></joint>'
        '<joint name="b" type="continuous"><parent link="bare"/><child link="boxed"/><origin xyz="0 0 0.3"/></joint>'
        "</robot>"
    )
    outline = model.compute_outline(State(np.zeros(2), np.zeros(2), np.zeros(0), 0.0))
    thick = np.unique(outline.points[outline.radius > 0.0].round(9), axis=0)
    # what is rounded to 9 digits in another direction is another number by an ulp
    np.testing.assert_allclose(thick, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.3]], atol=1e-15)
    assert [shape.kind for shape in model.description.shapes] == ["box"]


@pytest.mark.to_nearest("numbers of a robot are read from text")
def test_shapes_limits_and_friction_stand_in_the_options(tmp_path, write):
    write(block((0.1, 0.1, 0.1)), "cube.stl")
    mesh = (
        '<collision><geometry><mesh filename="package://NAME/cube.stl" scale="1 2 3"/></geometry></collision>'
    )
    text = PENDULUM.replace(
        '<link name="forearm">', f'<link name="forearm">{mesh.replace("NAME", tmp_path.name)}'
    )
    (tmp_path / "arm.urdf").write_text(text)
    upper, fore = from_document(document(), source=tmp_path / "scenario.toml").bodies[0].options["links"]
    assert upper["joint"]["limits"] == [-2.0, 2.0]
    assert upper["joint"]["dry_friction"] == 0.1
    assert upper["tip"] == [L1, 0.0, 0.0]
    assert upper["solids"][0]["size"] == [0.02, 0.4]
    assert fore["on"] == "upper_arm.base"
    np.testing.assert_allclose(np.ptp(fore["solids"][0]["vertices"], axis=0), [0.1, 0.2, 0.3], rtol=1e-6)


LOOSE = '<link name="l"><inertial><mass value="1"/></inertial></link>'
JOINT = '<joint name="j" type="{}"><parent link="world"/><child link="l"/>{}</joint>'

TURNS = (
    '<link name="l"><inertial><origin rpy="0 0 1"/><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    + JOINT.format("continuous", '<axis xyz="0 1 0"/>')
)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (LOOSE + JOINT.format("revolute", ""), '<joint name="j">.*must have a <limit>'),
        (LOOSE + JOINT.format("revolute", '<limit lower="1" upper="-1"/>'), "lower limit 1 must be below"),
        (LOOSE + JOINT.format("planar", ""), "type='planar': must be fixed, revolute"),
        (LOOSE + JOINT.format("continuous", '<mimic joint="k"/>'), "<mimic> is not read"),
        (LOOSE + JOINT.format("continuous", '<axis xyz="0 x 0"/>'), "xyz='0 x 0': must be 3 numbers"),
        (LOOSE + JOINT.format("continuous", '<axis xyz="0 0 0"/>'), "must not be zero"),
        (LOOSE, "must have one link that no joint carries, has world, l"),
        ('<link name="l"/>' + JOINT.format("continuous", ""), "link 'l'.*moves, and neither it nor"),
        (
            LOOSE.replace("</link>", '<collision><geometry><cone/></geometry></collision></link>')
            + JOINT.format("continuous", ""),
            "<cone>.*must be a box, cylinder",
        ),
        (
            LOOSE.replace(
                "</link>", '<collision><geometry><mesh filename="package://p/x.stl"/></geometry></collision></link>'
            )
            + JOINT.format("continuous", ""),
            "package that is not known: 'p' — give its folder",
        ),
        (TURNS.replace("inertial", "inertal"), "<link name=\"l\">.*'inertal' is not read, did you mean 'inertial'"),
        (TURNS.replace('rpy="', 'rpi="'), "<origin>.*'rpi' is not read, did you mean 'rpy'"),
        (TURNS.replace("axis", "axes"), "<joint name=\"j\">.*'axes' is not read, did you mean 'axis'"),
        (TURNS.replace("<mass value", "<mass kg"), '<inertial>.*must have a <mass value="…">'),
        (TURNS.replace('ixy="0" ', ""), "<inertia>.*must have six moments, lacks ixy"),
        (TURNS.replace("</inertial>", "</inertial><inertial><mass value='2'/></inertial>"), "must have one <inertial>"),
        (TURNS.replace('iyy="1"', 'iyy="-1"'), "moments of inertia must not be negative"),
        ("<link", "is not XML"),
    ],
)  # fmt: skip
def test_what_makes_no_arm_is_refused_in_one_sentence(tmp_path, inside, said):
    (tmp_path / "arm.urdf").write_text(f'<robot name="r"><link name="world"/>{inside}</robot>')
    with pytest.raises(ConfigError, match=said) as refused:
        from_document(document(), source=tmp_path / "scenario.toml")
    assert len(refused.value.mistakes) == 1


def chain_of(count, kind="fixed"):
    """A file with so many links, each on the one before."""
    inertia = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    lines = ['<robot name="r"><link name="l0"/>']
    for i in range(1, count):
        lines.append(f'<link name="l{i}">{inertia}</link><joint name="j{i}" type="{kind}">')
        lines.append(f'<parent link="l{i - 1}"/><child link="l{i}"/><limit lower="-1" upper="1"/></joint>')
    return "".join([*lines, "</robot>"])


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_the_work_of_reading_a_chain_grows_as_its_length(tmp_path, kind):
    """In lines that are gone through, which no machine changes: four times as many would be its square."""
    lines = []
    for count in (150, 300):
        (tmp_path / "chain.urdf").write_text(chain_of(count, kind))
        source, mistakes, done = RobotSource(file=tmp_path / "chain.urdf"), [], 0

        def trace(frame, event, _argument):
            nonlocal done
            done += event == "line"
            return trace if "corekit_import" in frame.f_code.co_filename else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            links = robot_links(source, XmlReader("robot", "chain.urdf"), mistakes)
        finally:
            sys.settrace(before)
        assert len(links) == count
        assert not mistakes
        lines.append(done)
    assert lines[1] < 2.1 * lines[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (chain_of(2001), "at most 2000 links, has 2001"),
        ("<robot>" + "<material/>" * 100_001 + "</robot>", "at most 100000 elements and attributes"),
        (
            "<robot><link " + " ".join(f'a{i}=""' for i in range(100_001)) + "/></robot>",
            "at most 100000 elements",
        ),
        ("<robot>" + "<a>" * 400 + "</a>" * 400 + "</robot>", "at most 400 elements within each other"),
        (" " * (1 << 26) + "<robot/>", "larger than 64 MiB, which is not read"),
    ],
    ids=["links", "elements", "attributes", "levels", "bytes"],
)
def test_what_is_larger_than_any_robot_is_refused_in_one_sentence(tmp_path, text, said):
    (tmp_path / "arm.urdf").write_text(text)
    with pytest.raises(ConfigError, match=said) as refused:
        from_document(document(), source=tmp_path / "scenario.toml")
    assert len(refused.value.mistakes) == 1
    assert len(str(refused.value)) < 500


def test_a_message_does_not_repeat_what_is_long(tmp_path):
    long = "n" * 100_000
    inside = f'<link name="{long}" nam{long}=""/><joint name="{long}"><origin xyz="{long}"/></joint>'
    (tmp_path / "arm.urdf").write_text(f'<robot name="r">{inside}</robot>')
    with pytest.raises(ConfigError) as refused:
        from_document(document(), source=tmp_path / "scenario.toml")
    assert len(str(refused.value)) < 2000


def test_entities_are_refused(tmp_path):
    for encoding in ("utf-8", "utf-16", "utf-8-sig", "cp1252"):
        said = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
        text = f'{said}<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>'
        (tmp_path / "arm.urdf").write_bytes(text.encode(encoding))
        with pytest.raises(ConfigError, match="must declare no document type"):
            from_document(document(), source=tmp_path / "scenario.toml")


def test_a_comment_that_names_a_document_type_declares_none(tmp_path):
    (tmp_path / "arm.urdf").write_text('<robot name="r"><!-- <!DOCTYPE r> --><link name="world"/></robot>')
    assert from_document(document(), source=tmp_path / "scenario.toml")


@pytest.mark.parametrize(
    "encoding", ["latin-9000", "hex", "rot13", "base64", "zlib", "undefined", "utf-7", "shift_jis"]
)
def test_an_encoding_that_is_unknown_or_of_no_texts_is_refused(tmp_path, encoding):
    (tmp_path / "arm.urdf").write_bytes(
        f'<?xml version="1.0" encoding="{encoding}"?><robot name="é"/>'.encode()
    )
    with pytest.raises(ConfigError, match="is not XML") as refused:
        from_document(document(), source=tmp_path / "scenario.toml")
    assert len(refused.value.mistakes) == 1


def test_a_robot_in_another_encoding_of_texts_is_read(tmp_path):
    text = f'<?xml version="1.0" encoding="utf-16"?><robot name="r"><link name="world"/>{TURNS}</robot>'
    (tmp_path / "arm.urdf").write_bytes(text.encode("utf-16"))
    assert from_document(document(), source=tmp_path / "scenario.toml")


@pytest.mark.parametrize(("largest", "count"), [(1.9, 0), (2.001, 0), (2.01, 1)])
def test_a_check_tells_of_an_inertia_that_no_body_has(tmp_path, largest, count):
    """∫(y² + z²) ≤ ∫(x² + z²) + ∫(x² + y²) of any masses; files round their numbers."""
    text = TURNS.replace('izz="1"', f'izz="{largest}"').replace("<link", '<gazebo reference="l"/><link')
    (tmp_path / "arm.urdf").write_text(f'<robot name="r"><link name="world"/>{text}</robot>')
    scenario = from_document(document(), source=tmp_path / "scenario.toml")
    said = import_doubts(scenario, None)
    assert [f"principal moments 1, 1, {largest} kg·m²" in each for each in said] == [True] * count
