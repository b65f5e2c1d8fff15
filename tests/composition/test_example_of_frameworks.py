"""The examples that hand a run to PyTorch and to JAX, by what these frameworks check themselves."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

for module in ("corekit_gradients", "corekit_rigid", "corekit_sdf", "corekit_lcp", "corekit_timestep"):
    pytest.importorskip(module)

EXAMPLES = Path(__file__).parents[2] / "examples/gradients"


def slide(start, friction, gravity, step):
    """Where a puck stops and the derivative of that by its speed, by the sum of the steps in which it slides."""
    slowed = friction * gravity * step
    count = int(start // slowed)
    return step * sum(start - k * slowed for k in range(1, count + 1)), step * count


def test_pytorch_differentiates_a_run_and_what_stands_before_and_behind_it():
    """A puck of 1.1 m/s: loss (x − d)², and sin(loss) of a velocity exp(y)."""
    torch = pytest.importorskip("torch")
    example = runpy.run_path(str(EXAMPLES / "torch_function.py"))
    miss = example["Miss"]()
    miss.target = 0.1
    objective = example["objective_of"](miss)
    x = torch.tensor([1.1, 0.0, 0.0], dtype=torch.double, requires_grad=True)
    loss = example["RunLoss"].apply(x, objective)
    loss.backward()
    place, slope = slide(1.1, example["FRICTION"], example["GRAVITY"], 1e-2)
    assert loss.item() == pytest.approx((place - 0.1) ** 2, rel=1e-9)
    assert x.grad[0].item() == pytest.approx(2.0 * (place - 0.1) * slope, rel=1e-6)

    y = torch.log(x.detach()[:1]).requires_grad_()
    speed = torch.nn.functional.pad(torch.exp(y), (0, 2))
    torch.sin(example["RunLoss"].apply(speed, objective)).backward()
    behind = np.cos((place - 0.1) ** 2)
    assert y.grad.item() == pytest.approx(behind * 2.0 * (place - 0.1) * slope * 1.1, rel=1e-6)


def test_a_network_learns_through_runs():
    """Its misses fall to a third in six rounds."""
    pytest.importorskip("torch")
    example = runpy.run_path(str(EXAMPLES / "torch_function.py"))
    _, misses = example["learn"](6, np.array([0.05, 0.15]))
    assert misses[-1] < misses[0] / 3.0


def test_jax_differentiates_a_run_compiled_and_over_a_batch():
    """`check_grads` holds the derivative against differences, of the loss alone and of a function around it."""
    jax = pytest.importorskip("jax")
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)
    example = runpy.run_path(str(EXAMPLES / "jax_function.py"))
    throw = runpy.run_path(str(EXAMPLES / "aim_a_throw.py"))
    scenario = throw["loads"](throw["SCENARIO"])
    objective = scenario.objective(throw["miss"], ["bodies.ball.initial.velocity"], until=0.3)
    loss = example["run_loss"](objective)
    x = jax.numpy.array([1.3, 0.5, 0.2])
    check_grads(loss, (x,), order=1, modes=["rev"], eps=1e-6, rtol=1e-5)
    assert jax.grad(jax.jit(lambda x: 2.0 * loss(x) + x[0]))(x) == pytest.approx(
        2.0 * objective(np.asarray(x))[1] + np.array([1.0, 0.0, 0.0]), rel=1e-12
    )
    batch = jax.numpy.stack([x, 2.0 * x])
    assert jax.vmap(loss)(batch) == pytest.approx(
        [objective(np.asarray(each))[0] for each in batch], rel=1e-12
    )
