"""Soft arms by strain beside what others say of the same arm, and in contact by any solver's word."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from corekit.data.signals import Constant
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit.scenario.load import from_document
from corekit_gvs.config import Basis, GVSConfig, Link, Load
from corekit_gvs.model import GVS
from corekit_record.energy_balance import EnergyBalance
from corekit_statics.equilibria import move_to_equilibrium
from corekit_testing.implicit_euler import ImplicitEuler
from corekit_testing.small_world import small_world

ARM = {
    "format": "corekit-scenario/1",
    "name": "arm",
    "time": {"duration": 1.0, "step": 1e-2},
    "bodies": [
        {
            "name": "arm",
            "use": "gvs",
            "options": {
                "links": [
                    {
                        "name": "arm",
                        "collision": "spheres",
                        "shapes": 6,
                        "divisions": [
                            {
                                "length": 0.3,
                                "radius": 0.015,
                                "young": 4e5,
                                "viscosity": 2e4,
                                "strain": [{"kind": "legendre", "order": 2}],
                            }
                        ],
                    }
                ]
            },
        }
    ],
    "integrator": "implicit-euler",
    "output": {"every": 0.1},
}
SPHERE = {"name": "ball", "shape": "sphere", "size": [0.05], "position": [0.2, 0.01, -0.08], "friction": 0.6}
SLOPE = {
    "name": "box", "shape": "box", "size": [0.4, 0.4, 0.1], "position": [0.2, 0.0, -0.16],
    "rotation_rpy": [0.7853981633974483, 0.0, 0.0], "friction": 0.0,
}  # fmt: skip
"""Without friction there is one place of rest on it, however the arm came there."""
LAYER = 2e-4
SOLVERS = {
    "lcp": {"use": "lcp"},
    "qp": {"use": "qp"},
    "imc": {"use": "imc", "options": {"distance_tolerance": LAYER}},
}


def frames(simulation):
    """Where every frame of the body is [m], (frames, 3)."""
    body, part = simulation.bodies[0], simulation.state.body_states[0]
    count = len(body.description.frames)
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    body.model.compute_frame_poses(part, position, rotation)
    return position


def matrices(simulation):
    """M and K of the one body without its prescribed velocities, (n, n)."""
    body, part = simulation.bodies[0], simulation.state.body_states[0]
    model = body.model
    inputs = np.zeros(body.description.input_size)
    mass, force = model.new_mass_matrix(), np.zeros(len(body.description.velocities))
    model.compute_mass_and_force(part, inputs, mass, force)
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(part, inputs, stiffness, damping)
    free = np.setdiff1d(np.arange(len(force)), body.description.prescribed_velocity_index)
    return mass.dense()[np.ix_(free, free)], stiffness.dense()[np.ix_(free, free)]


@pytest.mark.parametrize("obstacle", [SPHERE, SLOPE], ids=["sphere", "inclined box"])
def test_an_arm_pressed_on_an_obstacle_rests_alike_with_every_solver(obstacle):
    """One word changed; without friction the potential's rest differs by no more than its layer.

    With friction a body rests where its landing left it, which a soft layer changes: by 0.4 to 4 mm with the step.
    """
    rest = {}
    for name, solver in SOLVERS.items():
        document = {
            **ARM, "world": {"obstacles": [obstacle]}, "contact": {"detector": {"use": "sdf"}, "solver": solver},
        }  # fmt: skip
        simulation = from_document(document).compose()
        simulation.run(1.0)
        contacts = simulation.contacts()
        assert contacts.count > 0
        assert np.abs(contacts.gap[contacts.normal_impulse > 0.0]).max() < LAYER
        rest[name] = frames(simulation)
    assert np.abs(rest["lcp"] - rest["qp"]).max() < 2e-5
    if not obstacle["friction"]:
        assert np.abs(rest["lcp"] - rest["imc"]).max() < 2 * LAYER
    document = {**ARM, "world": {}}
    simulation = from_document(document).compose()
    simulation.run(1.0)
    assert np.abs(rest["lcp"] - frames(simulation)).max() > 10 * LAYER  # the obstacle does hold it


def test_constant_curvature_by_strain_and_by_chambers_come_to_the_same_rest():
    """K a chamber at radius r: E·A/L = 3·K, E·I/L = 1.5·K·r²; forces as pressures on the chambers' areas."""
    length, mass, stiffness, radius, area = 0.2, 0.4, 300.0, 0.04, 1e-3
    node_wrenches, turned = np.array([4.0, -1.0, 2.5]), [2.0, 0.3, -0.4]
    shared = {"base": {"position": [0.1, 0.2, 0.5], "rotation_rpy": turned}, "name": "arm"}
    pcc = {
        **shared, "use": "pcc",
        "options": {
            "sections": 1, "length": length, "mass": mass, "stiffness": stiffness, "chamber_radius": radius,
            "mass_nodes": 8, "disks": 0,
        },
        "inputs": [{"channel": "chamber-force", "signal": node_wrenches.tolist()}],
    }  # fmt: skip
    bending = 1.5 * stiffness * radius**2 * length
    section = {
        "length": length, "section": "given", "radius": 0.01, "points": 8,
        "inertia": [1e-6, 1e-6, 1e-6, *[mass / length] * 3],
        "rigidity": [1.0, bending, bending, 3 * stiffness * length, 1.0, 1.0],
        "strain": [{"kind": "constant", "modes": ["bend-y", "bend-z", "stretch"]}],
    }  # fmt: skip
    angles = 2 * np.pi / 3 * np.arange(3)
    gvs = {
        **shared, "use": "gvs",
        "options": {
            # its x is the other's z, its y the other's x
            "links": [{"name": "arm", "rotation_rpy": [-np.pi / 2, -np.pi / 2, 0.0], "divisions": [section]}],
            "chambers": [
                {
                    "name": f"c{i}", "link": "arm", "area": area, "y": radius * np.cos(angle),
                    "z": radius * np.sin(angle),
                }
                for i, angle in enumerate(angles)
            ],
        },
        "inputs": [{"channel": f"pressure-c{i}", "signal": push / area} for i, push in enumerate(node_wrenches)],
    }  # fmt: skip
    base = {key: ARM[key] for key in ("format", "name", "time", "integrator", "output")}
    ends = [
        from_document({**base, "bodies": [body]}).statics(load_steps=2).frame_position()[-1]
        for body in (pcc, gvs)
    ]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6 * length)
    assert np.linalg.norm(ends[0] - [0.1, 0.2, 0.5]) > 0.05


def test_a_straight_cantilever_has_the_frequency_of_the_discrete_rod():
    shared = {"radius": 0.005, "young": 1e6, "poisson": 0.5, "density": 1000.0}
    basis = {"kind": "legendre", "order": 4}
    gvs = {
        "name": "rod", "use": "gvs",
        "options": {
            "links": [
                {
                    "name": "rod",
                    "divisions": [{"length": 0.5, **shared, "strain": [basis]}],
                }
            ]
        },
    }  # fmt: skip
    der = {
        "name": "rod", "use": "der",
        "options": {
            "limbs": [
                {"name": "rod", "start": [0, 0, 0], "end": [0.5, 0, 0], "nodes": 41, **shared}
            ],
            "clamps": [{"at": "rod.start"}],
        },
    }  # fmt: skip
    base = {key: ARM[key] for key in ("format", "name", "time", "integrator", "output")}
    found = []
    for body in (gvs, der):
        document = {**base, "world": {"gravity": [0.0, 0.0, 0.0]}, "bodies": [body]}
        mass, stiffness = matrices(from_document(document).compose())
        found.append(np.sqrt(eigh(stiffness, mass, eigvals_only=True)[0]))
    assert found[0] == pytest.approx(found[1], rel=2e-3)


@pytest.mark.parametrize("integrator", ["implicit-euler", "newmark", "generalized-alpha"])
def test_a_load_that_ends_in_no_number_is_named_where_the_run_stops(integrator):
    """Between 0.02 s and 0.03 s its logarithm has no value any more."""
    pull = {"name": "pull", "link": "arm", "kind": "world", "wrench": [0, "log(0.025 - t)", 0, 0, 0, 0]}
    (body,) = ARM["bodies"]
    bodies = [{**body, "options": {**body["options"], "distributed": [pull]}}]
    simulation = from_document({**ARM, "bodies": bodies, "integrator": integrator}).compose()
    with pytest.raises(StepFailed, match="force term 'applied'") as caught:
        simulation.run(0.1)
    assert caught.value.step == 2
    assert (caught.value.body, caught.value.term) == ("arm", "applied")


def test_a_load_from_python_comes_to_rest_as_its_force_does_and_its_energy_is_not_watched():
    def world(function, **inputs):
        load = Load(name="tug", at="arm.tip", function=function)
        shape = {"length": 0.3, "radius": 0.01, "young": 1e5, "viscosity": 100.0}
        arm = Link.soft("arm", strain=(Basis.legendre(2, "bend-y"),), **shape)
        model = GVS(GVSConfig(links=(arm,), loads=(load,)))
        abilities = frozenset({"force-derivatives", "inverse-dynamics", "energy", "force-terms"})
        integrator = ImplicitEuler(None, BuildContext(step=0.01))
        return small_world(
            {"robot": model}, integrator, step=0.01, abilities=abilities, inputs={"robot": inputs}
        )

    pulled = world(lambda t, position, rotation, velocity: (0, 0, 0, 0, 0, 0.2 - 3.0 * position[2]))
    assert EnergyBalance(pulled).unknown == "the work of the load 'tug' of 'robot' is not known"
    move_to_equilibrium(pulled)
    position, rotation = np.zeros((2, 3)), np.zeros((2, 3, 3))
    pulled.bodies[0].model.compute_frame_poses(pulled.state.body_states[0], position, rotation)
    force = float(0.2 - 3.0 * position[1, 2])
    assert force > 0.2
    pushed = world(None, **{"load-tug": Constant((0.0, 0.0, 0.0, 0.0, 0.0, force))})
    move_to_equilibrium(pushed)
    np.testing.assert_allclose(pushed.state.q, pulled.state.q, rtol=0, atol=1e-8)
