"""What the kernel's conformance kit asks of any model, of a few different robots."""

from corekit_testing.conformance import conformance

ARM = {
    "links": [
        {
            "name": "arm",
            "collision": "spheres",
            "shapes": 2,
            "frames": [0.4],
            "divisions": [
                {
                    "length": 0.15,
                    "radius": 0.015,
                    "viscosity": 1e3,
                    "strain": [{"kind": "legendre", "order": 1}],
                },
                {
                    "length": 0.15,
                    "radius": [0.015, -0.005],
                    "points": 2,
                    "strain": [{"kind": "fem-linear", "elements": 2, "modes": ["bend-y", "stretch"]}],
                },
            ],
        }
    ],
    "cables": [{"name": "helix", "link": "arm", "y": "0.01*sin(50*s)", "z": "0.01*cos(50*s)"}],
    "chambers": [{"name": "side", "link": "arm", "divisions": [0], "y": 0.005}],
    "loads": [{"name": "tip", "at": "arm.tip", "follows": True}],
}
TREE = {
    "links": [
        {
            "name": "hub",
            "kind": "rigid",
            "mass": 0.4,
            "inertia": [1e-3, 2e-3, 2e-3],
            "joint": {"kind": "free"},
            "tip": [0.1, 0, 0],
            "collision": "capsules",
            "drag": [1e-4, 1e-4, 1e-4, 1.0, 2.0, 2.0],
        },
        {
            "name": "left",
            "on": "hub.tip",
            "joint": {"kind": "universal", "stiffness": 0.1, "driven": True},
            "divisions": [{"length": 0.2, "points": 3, "drag": [0, 1.1, 1.1], "added_mass": [0, 0.6, 0.6]}],
        },
        {
            "name": "right",
            "on": "hub.tip",
            "rotation_rpy": [0, 0, 1.5],
            "joint": {
                "kind": "revolute",
                "axis": "x",
                "motion": {"kind": "sine", "amplitude": 0.5, "frequency": 1.0},
            },
            "divisions": [
                {
                    "length": 0.2,
                    "points": 5,
                    "strain": [
                        {
                            "kind": "dependent",
                            "modes": ["bend-y"],
                            "coordinates": 2,
                            "functions": ["q1*X + q2*X**2*cos(q1) + 0.1*q1*q2"],
                        }
                    ],
                }
            ],
        },
    ],
    "fluid_density": 300.0,
    "tendons": [{"name": "between", "first": "left.tip", "second": "right.tip"}],
}
LOOP = {
    "links": [
        {
            "name": "a",
            "divisions": [{"length": 0.2, "points": 2, "strain": [{"kind": "monomial", "order": 1}]}],
        },
        {
            "name": "b",
            "position": [0, 0.1, 0],
            "joint": {"kind": "spherical"},
            "divisions": [{"length": 0.2, "points": 2, "strain": [{"modes": ["bend-z", "stretch"]}]}],
        },
    ],
    "loops": [{"name": "close", "first": "a.tip", "second": "b.tip", "joint": {"kind": "revolute"}}],
}

test_arm = conformance("models", "gvs", ARM)
test_tree = conformance("models", "gvs", TREE)
test_loop = conformance("models", "gvs", LOOP)
