"""Conformance kit for a few different graphs of rods."""

from corekit.cli import main
from corekit_testing.conformance import conformance

FREE = {
    "limbs": [{"start": [0, 0, 0], "end": [0.3, 0.1, 0], "nodes": 6, "curvature_input": "nodes"}],
    "cables": [{"name": "side", "offset": [5e-3, -3e-3]}],
}
TREE = {
    "limbs": [
        {"name": "trunk", "start": [0, 0, 0], "end": [0, 0, 0.3], "nodes": 4, "radius": [0.02, 0.01]},
        {
            "name": "left",
            "start": [0, 0, 0.3],
            "end": [0.2, 0.1, 0.4],
            "nodes": 4,
            "section": "rectangle",
            "width": 0.02,
            "viscous_drag": 0.3,
        },
        {
            "name": "right",
            "start": [-0.3, 0, 0.35],
            "end": [0, 0, 0.3],
            "nodes": 4,
            "natural_curvature": [1.0, 2.0],
            "curvature_input": "uniform",
        },
    ],
    "joints": [{"at": ["trunk.end", "left.start", "right.end"]}],
    "clamps": [
        {
            "at": "trunk.start",
            "displacement": {"kind": "sine", "amplitude": [0, 0, 0.01], "frequency": 1.0},
            "axis": [0, 1, 1],
            "angle": {"kind": "sine", "amplitude": 0.4, "frequency": 0.5},
        }
    ],
    "forces": [{"name": "tip", "at": "left.end"}],
    "collision": "capsules",
}
SWIMMER = {
    "limbs": [
        {
            "name": "tail",
            "points": [[0, 0, 0], [0.1, 0, 0], [0.17, 0.08, 0], [0.2, 0.15, 0.05]],
            "drag_normal": 0.4,
            "drag_tangential": 0.2,
            "fluid_density": 300.0,
            "added_mass": 1.0,
            "viscosity": 2e3,
        }
    ],
    "forces": [{"name": "push", "at": "tail.start", "follows": True}],
    "cables": [
        {
            "name": "fin",
            "limb": "tail",
            "offset": [5e-3, 2e-3],
            "drive": "length",
            "stiffness": 2e3,
            "limit": 30.0,
            "friction": 0.4,
        }
    ],
    "collision": "spheres",
}

test_free_rod = conformance("models", "der", FREE)
test_driven_tree = conformance("models", "der", TREE)
test_swimmer = conformance("models", "der", SWIMMER)

PLANAR = {
    "planar": True,
    "limbs": [
        {"name": "arm", "start": [0, 0, 0], "end": [0.3, 0, 0.1], "nodes": 5, "curvature_input": "uniform"},
        {
            "name": "hand",
            "start": [0.2, 0, 0.4],
            "end": [0.3, 0, 0.1],
            "nodes": 4,
            "natural_curvature": [3.0, 0.0],
            "viscosity": [1e3, 3e3],
        },
    ],
    "joints": [{"at": ["arm.end", "hand.end"]}],
    "clamps": [
        {"at": "arm.start", "axis": [0, 1, 0], "angle": {"kind": "sine", "amplitude": 0.3, "frequency": 1.0}}
    ],
    "cables": [
        {"name": "flexor", "limb": "hand", "offset": [6e-3, 0], "drive": "length", "stiffness": 9e2},
        {"name": "bender", "limb": "arm", "offset": [5e-3, 0], "friction": 0.3},
    ],
    "forces": [{"name": "tip", "at": "hand.start"}, {"name": "jet", "at": "arm.end", "follows": True}],
    "collision": "capsules",
}
test_planar_arm = conformance("models", "der", PLANAR)

MOUNTED = TREE | {"clamps": [{"at": "trunk.start"}]}
test_mounted_tree = conformance("models", "der", MOUNTED, free_base=True)
GRIPPED = SWIMMER | {"clamps": [{"at": "tail.end", "kind": "edge"}]}
test_rod_mounted_by_an_edge = conformance("models", "der", GRIPPED, free_base=True)


LINK = SWIMMER | {"end_frames": ["tail.end", "tail.start"], "forces": [], "cables": []}
test_rod_with_frames_at_its_ends = conformance("models", "der", LINK)
HELD = TREE | {"end_frames": ["left.end"], "clamps": [{"at": "trunk.start"}]}
test_tree_with_a_frame_at_an_end = conformance("models", "der", HELD)
test_mounted_tree_with_a_frame_at_an_end = conformance("models", "der", HELD, free_base=True)


def test_the_default_rod_conforms_from_the_command_line(capsys):
    """Its edges are short: displaced by as much as models of longer links, they fold onto each other, or nearly."""
    assert main(["conform", "models.der", "--spread", "0.1"]) == 0
    capsys.readouterr()
    assert main(["conform", "models.der"]) == 1
    assert "where the displacement is beyond what the model allows: --spread 0.1" in capsys.readouterr().out
