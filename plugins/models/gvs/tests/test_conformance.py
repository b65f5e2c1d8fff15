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
                    "strain_energy": "EIy/2*bend_y**2*(1 + stretch)**2 + EA*(stretch - log(1 + stretch))",
                },
            ],
        }
    ],
    "cables": [
        {"name": "helix", "link": "arm", "y": "0.01*sin(50*s)", "z": "0.01*cos(50*s)", "friction": 0.4}
    ],
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
                    "strain_energy": "EIy*4*(sqrt(1 + bend_y**2/4) - 1)",
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
    "cables": [
        {"name": "side", "link": "a", "y": 0.005, "drive": "length", "stiffness": 2e3, "friction": 0.3}
    ],
    "tendons": [
        {
            "name": "stay",
            "first": "world",
            "second": "b.tip",
            "drive": "length",
            "stiffness": 50.0,
            "limit": 8.0,
        }
    ],
    "loops": [{"name": "close", "first": "a.tip", "second": "b.tip", "joint": {"kind": "revolute"}}],
}
HINGED = {
    "links": [
        {
            "name": "boom",
            "kind": "rigid",
            "mass": 0.4,
            "inertia": [1e-3, 2e-3, 2e-3],
            "tip": [0.2, 0, 0],
            "joint": {"kind": "revolute", "axis": [1, 2, -2], "limits": [-0.5, 1.5], "dry_friction": 0.2},
            "solids": [
                {"shape": "box", "size": [0.2, 0.02, 0.03], "position": [0.1, 0, 0]},
                {"shape": "capsule", "size": [0.02, 0.1], "rotation_rpy": [0.3, 0.2, 0.1]},
            ],
        },
        {
            "name": "slide",
            "on": "boom.tip",
            "kind": "rigid",
            "mass": 0.1,
            "centre": [0, 0, 0.05],
            "inertia": [1e-4, 1e-4, 1e-5],
            "joint": {
                "kind": "prismatic",
                "axis": [0, 0.6, 0.8],
                "driven": True,
                "effort_limit": 5.0,
                "armature": 0.3,
            },
            "solids": [{"shape": "polytope", "vertices": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}],
        },
        {"name": "finger", "on": "slide.tip", "divisions": [{"length": 0.1, "points": 2}]},
    ],
}
DRIVEN = {
    "links": [
        {
            "name": "crank",
            "kind": "rigid",
            "mass": 0.2,
            "inertia": [1e-4, 1e-4, 2e-4],
            "tip": [0.1, 0, 0],
            "joint": {"kind": "revolute", "motion": {"kind": "sine", "amplitude": 0.3, "frequency": 1.0}},
        },
        {"name": "finger", "on": "crank.tip", "divisions": [{"length": 0.1, "points": 3}]},
    ]
}
WHEEL = {
    "links": [
        {
            "name": "wheel",
            "kind": "rigid",
            "mass": 0.5,
            "inertia": [2e-4, 2e-4, 2e-4],
            "joint": {"kind": "revolute", "axis": "x"},
        }
    ]
}
"""In balance: weight and inertial forces cancel but for rounding; it has no material."""

test_arm = conformance("models", "gvs", ARM)
test_tree = conformance("models", "gvs", TREE)
test_loop = conformance("models", "gvs", LOOP)
test_hinged = conformance("models", "gvs", HINGED)
test_driven = conformance("models", "gvs", DRIVEN)
test_wheel = conformance("models", "gvs", WHEEL)
test_places_that_hardly_show_a_strain = conformance(
    "models",
    "gvs",
    {
        "links": [
            {
                "name": "arm",
                "divisions": [
                    {
                        "length": 0.2,
                        "points": 10,
                        "strain": [{"kind": "legendre", "modes": ["bend-y"], "order": 5}],
                    }
                ],
                "frames": [0.5, 0.500001],
            }
        ]
    },
    free_base=True,
)
