"""What the kernel's conformance kit asks of any model, of a few different graphs of rods."""

from corekit.testing.conformance import conformance

test_free_rod = conformance(
    "models", "der", {"limbs": [{"start": [0, 0, 0], "end": [0.3, 0.1, 0], "nodes": 6, "radius": 0.01}]}
)
TREE = {
    "limbs": [
        {
            "name": "trunk",
            "start": [0, 0, 0],
            "end": [0, 0, 0.3],
            "nodes": 4,
            "radius": [0.02, 0.01],
            "viscosity": 0.3,
        },
        {
            "name": "left",
            "start": [0, 0, 0.3],
            "end": [0.2, 0.1, 0.4],
            "nodes": 4,
            "section": "rectangle",
            "width": 0.02,
        },
        {
            "name": "right",
            "start": [-0.3, 0, 0.35],
            "end": [0, 0, 0.3],
            "nodes": 4,
            "natural_curvature": [1.0, 2.0],
        },
    ],
    "joints": [{"at": ["trunk.end", "left.start", "right.end"]}],
    "clamps": [{"at": "trunk.start"}],
    "collision": "capsules",
}
test_clamped_tree = conformance("models", "der", TREE)
