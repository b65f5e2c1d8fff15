"""Options as symbols, against rods with other options."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attrs import evolve

from corekit.data.state import State
from corekit_der.config import Clamp, DERConfig, Joint, Limb
from corekit_der.model import DER

ca = pytest.importorskip("casadi", reason="the extra `symbolic` is not installed")


def joined(*, planar):
    """Return a clamped trunk with two branches, each of another material."""
    third = 0.0 if planar else 0.1
    limbs = (
        Limb(name="trunk", start=(0, 0, 0), end=(0, 0, 0.3), nodes=4, radius=(0.02, 0.01), young=(2e5,)),
        Limb(
            name="left", start=(0, 0, 0.3), end=(0.2, third, 0.4), nodes=4, section="rectangle", width=(0.02,),
            viscous_drag=0.3, density=(700.0,), poisson=0.2,
        ),
        Limb(
            name="right", start=(-0.3, 0, 0.35), end=(0, 0, 0.3), nodes=4, young=(3e6,), drag_normal=0.4,
            drag_tangential=0.1, fluid_density=300.0, viscosity=(4e3,), natural_curvature=(1.0, 0.0 if planar else 2.0),
        ),
    )  # fmt: skip
    return DERConfig(
        limbs=limbs, joints=(Joint(at=("trunk.end", "left.start", "right.end")),),
        clamps=(Clamp(at="trunk.start"),), planar=planar,
    )  # fmt: skip


def with_option(config, name, value):
    """Return the configuration with one option of a limb set to a number."""
    limb, option, component = re.findall(r"limbs\[(\d+)\]\.(\w+)(?:\[(\d)\])?", name)[0]
    own = getattr(config.limbs[int(limb)], option)
    if component:
        value = tuple(value if k == int(component) else each for k, each in enumerate(own))
    elif isinstance(own, tuple):
        value = (value,)
    limbs = list(config.limbs)
    limbs[int(limb)] = evolve(limbs[int(limb)], **{option: value})
    return evolve(config, limbs=tuple(limbs))


@pytest.mark.parametrize("planar", [False, True])
def test_options_as_symbols_agree_with_rods_of_other_options(planar):
    """Also for joined limbs: a pair at a joint bends like both half edges in series."""
    config = joined(planar=planar)
    model = DER(config)
    expressions, n = model.symbolic(), len(model.description.coordinates)
    parameters = expressions.parameters
    for limb in range(3):
        for option in ("viscous_drag", "drag_normal", "drag_tangential", "young", "viscosity", "density"):
            assert f"limbs[{limb}].{option}" in parameters
    assert "limbs[2].natural_curvature[0]" in parameters
    assert ("limbs[1].poisson" in parameters) is not planar
    symbols = {name: ca.SX.sym(name) for name in parameters}
    with_symbols = expressions.with_parameters(symbols)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    evaluate = ca.Function(
        "mass_and_force",
        [q, v, ca.vertcat(*symbols.values())],
        [ca.diag(with_symbols.mass(q)), with_symbols.force(q, v, ca.SX(0, 1))],
    )
    rng = np.random.default_rng(0)
    state = State.zeros(n, n, model.description.aux)
    model.compute_initial_state(None, state)
    state.q += 1e-2 * rng.normal(size=n)
    state.v[:] = rng.normal(size=n)
    own = np.array([each.value for each in parameters.values()])
    for k, name in enumerate(parameters):
        other = DER(with_option(config, name, float(0.4 * own[k] + 0.05)))
        mass, force = other.new_mass_matrix(), np.zeros(n)
        other.compute_mass_and_force(state, np.zeros(0), mass, force)
        values = own.copy()
        values[k] = 0.4 * own[k] + 0.05
        results = [np.array(each).ravel() for each in evaluate(state.q, state.v, values)]
        assert results[0] == pytest.approx(mass.data, rel=1e-12), name
        assert results[1] == pytest.approx(force, rel=1e-9, abs=1e-9 * np.abs(force).max()), name


def test_options_that_vary_along_a_limb_or_are_absent_are_no_parameters():
    points = ((0, 0, 0), (0.1, 0, 0), (0.2, 0, 0))
    limb = Limb(points=points, young=(1e5, 2e5), density=(1000.0, 500.0))
    assert set(DER(DERConfig(limbs=(limb,))).symbolic().parameters) == {
        f"limbs[0].{name}"
        for name in (
            "viscous_drag",
            "drag_normal",
            "drag_tangential",
            "poisson",
            "viscosity",
            "natural_twist",
        )
    }
    edge = DER(DERConfig(limbs=(Limb(points=points[:2]),), planar=True)).symbolic().parameters
    assert {name.partition(".")[2] for name in edge} == {
        "viscous_drag", "drag_normal", "drag_tangential", "young", "viscosity", "density"
    }  # fmt: skip
