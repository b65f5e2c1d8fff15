"""A run of a scenario as a function in PyTorch, and a network that learns through it how hard to push.

    python examples/gradients/torch_function.py

A puck slides on a floor with Coulomb friction until it stops. The network is given a distance and must find the
speed that stops the puck there; its loss comes back through the simulation. The right answer is √(2·μ·g·d).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from corekit.scenario.load import loads

GRAVITY, FRICTION = 9.81, 0.4
SCENARIO = f"""
format = "corekit-scenario/1"
name = "puck"
time = {{ duration = 0.4, step = 1e-2 }}

[world]
gravity = [0.0, 0.0, -{GRAVITY}]

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[world.friction]]
between = ["puck", "floor"]
value = {FRICTION}

[[bodies]]
name = "puck"
use = "rigid"
options = {{ shape = "box", size = [0.1, 0.1, 0.02], mass = 0.2 }}
initial = {{ position = [0.0, 0.0, 0.01], velocity = [1.0, 0.0, 0.0] }}

[contact]
detector = "sdf"
solver = "lcp"

[integrator]
use = "semi-implicit-euler"
"""


class RunLoss(torch.autograd.Function):
    """The loss of a run: `RunLoss.apply(x, objective)`, with what `scenario.objective(loss, variables)` returned.

    x has the shape (n,) of the objective's variables. A run is computed in double precision on the processor,
    whatever the type and device of x are. There is no second derivative.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, objective: Any) -> torch.Tensor:
        """Run the scenario, and keep the gradient that belongs to it."""
        value, gradient = objective(x.detach().cpu().double().numpy())
        ctx.save_for_backward(x.new_tensor(gradient))
        return x.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *covectors: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Return the covector of x; the objective has none."""
        (gradient,) = ctx.saved_tensors
        return covectors[0] * gradient, None


class Miss:
    """Squared distance between where the puck is in the end and `target` [m²]."""

    target = 0.0

    def __call__(self, instant: Any) -> float:
        """Return it at an instant of the run."""
        return float((instant.frame("puck.body").position[0] - self.target) ** 2)


def objective_of(loss: Miss) -> Any:
    """The loss as a function of the velocity (3,) with which the puck starts [m/s]."""
    return loads(SCENARIO).objective(loss, ["bodies.puck.initial.velocity"])


def learn(rounds: int, distances: np.ndarray) -> tuple[torch.nn.Module, list[float]]:
    """Train a network on distances [m], and return it with its root mean squared miss of each round [m]."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    search = torch.optim.Adam(network.parameters(), lr=0.05)
    loss = Miss()
    objective = objective_of(loss)
    misses: list[float] = []
    for _ in range(rounds):
        search.zero_grad()
        total = torch.zeros((), dtype=torch.double)
        for loss.target in distances:
            speed = network(torch.tensor([10.0 * loss.target], dtype=torch.double))
            total = total + RunLoss.apply(torch.nn.functional.pad(speed, (0, 2)), objective)
        total.backward()
        search.step()
        misses.append(float(np.sqrt(total.item() / len(distances))))
    return network, misses


def main() -> None:
    """Learn, and print what was learned beside Coulomb's law."""
    distances = np.linspace(0.04, 0.2, 5)
    network, misses = learn(25, distances)
    for number in range(0, len(misses), 5):
        print(f"round {number}: {1e3 * misses[number]:.1f} mm off")
    for distance in distances:
        found = network(torch.tensor([10.0 * distance], dtype=torch.double)).item()
        right = np.sqrt(2.0 * FRICTION * GRAVITY * distance)
        print(f"to {1e3 * distance:.0f} mm: {found:.3f} m/s, by Coulomb's law {right:.3f} m/s")


if __name__ == "__main__":
    main()
