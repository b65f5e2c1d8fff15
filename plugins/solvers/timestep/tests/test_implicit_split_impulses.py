"""Why composition refuses implicit split schemes beside impulses for models that may be damped."""

import pytest

from corekit.roles.component import BuildContext
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.alpha_integrator import AlphaIntegrator
from corekit_timestep.config import NewmarkConfig

STEP, MASS, G = 1e-3, 2.0, 9.81


@pytest.mark.parametrize("damping", [0.0, 0.1, 0.5])
def test_a_damped_ball_at_rest_is_carried_by_too_little(damping):
    """v_f = −h·g/(1 + ½·h·d) of Newmark's average, of which the impulse knows the mass alone; `damping` is h·d."""
    ball = PointChain(
        PointChainConfig(
            masses=(MASS,),
            positions=((0.0, 0.0, 0.1),),
            shape="sphere",
            radius=0.1,
            drag=damping * MASS / STEP,
        )
    )
    simulation = small_world(
        {"ball": ball}, AlphaIntegrator(NewmarkConfig(), BuildContext(step=STEP)), step=STEP,
        solver=ProjectedGaussSeidel(), detector=ReferenceDetector(), obstacles=[floor()],
    )  # fmt: skip
    simulation.step()
    (carried,) = simulation.contacts().normal_impulse
    assert carried == pytest.approx(STEP * MASS * G / (1.0 + 0.5 * damping), rel=1e-9)
