"""The shipped heap of balls: every step is solved, and floor and walls change the momentum of all balls together."""

import numpy as np

from corekit.scenario.load import load

GRAVITY, STEP, MASS = 9.81, 0.002, 0.05


def test_floor_and_walls_carry_the_heap():
    simulation = load("teaching/balls-in-a-tray").compose()
    bodies, largest = len(simulation.bodies), 0.0

    def momentum():
        return MASS * np.sum([state.v[:3] for state in simulation.state.body_states], axis=0)

    weight = np.array([0.0, 0.0, -bodies * MASS * GRAVITY * STEP])
    for _ in range(180):
        before = momentum()
        assert simulation.step().solve_info.status.solved
        contacts = simulation.contacts()
        across = np.cross(contacts.normal, contacts.tangent)
        impulse = (
            contacts.normal_impulse[:, None] * contacts.normal
            + contacts.tangential_impulse[:, :1] * contacts.tangent
            + contacts.tangential_impulse[:, 1:] * across
        )
        of_world = impulse[contacts.shape[:, 1] >= bodies].sum(axis=0)
        # impulses between two balls cancel: Newton's second law of all together; rounding of a thousand sums
        error = momentum() - before - weight - of_world
        largest = max(largest, abs(of_world[2]))
        assert abs(error).max() <= 1e-12 * max(largest, abs(weight[2]))
    assert largest > abs(weight[2])
    heights = [state.q[2] for state in simulation.state.body_states]
    assert len({round(height, 2) for height in heights}) > 2  # a heap of several layers
    assert min(heights) > 0.0199
