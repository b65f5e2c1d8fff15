"""A run of a scenario as a function in JAX, with a derivative that `jax.grad` and `jax.jit` take.

    python examples/gradients/jax_function.py

The ball of `aim_a_throw.py` is thrown once: JAX differentiates a sum of how far it ends from the target and of
what the throw costs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from corekit.scenario.load import loads


def run_loss(objective: Any) -> Callable[[jax.Array], jax.Array]:
    """The loss of a run as a function of JAX, of what `scenario.objective(loss, variables)` returned.

    It takes x of shape (n,) and returns a number of x's type. A run is computed in double precision on the
    processor, one for each call; `vmap` runs one after the other. There is no second derivative.
    """

    @jax.custom_vjp
    def loss(x: jax.Array) -> jax.Array:
        return _run(x)[0]

    def _run(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        def call(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, gradient = objective(np.asarray(x, dtype=float))
            return np.asarray(value, dtype=x.dtype), np.asarray(gradient, dtype=x.dtype)

        shapes = (jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype))
        return jax.pure_callback(call, shapes, x, vmap_method="sequential")

    def backward(gradient: jax.Array, covector: jax.Array) -> tuple[jax.Array]:
        return (covector * gradient,)

    loss.defvjp(_run, backward)
    return loss


def main() -> None:
    """Differentiate a throw."""
    jax.config.update("jax_enable_x64", True)
    throw = import_module("aim_a_throw")  # of this folder, which is on the path of a program in it
    objective = loads(throw.SCENARIO).objective(
        throw.miss, ["bodies.ball.initial.velocity", "bodies.ball.initial.angular_velocity"]
    )
    loss = run_loss(objective)

    @jax.jit
    def total(x: jax.Array) -> jax.Array:
        return loss(x) + 1e-3 * jnp.sum(x[:3] ** 2)

    value, gradient = jax.value_and_grad(total)(jnp.asarray(objective.start))
    print(f"loss {value:.4f} m², gradient {np.round(np.asarray(gradient), 4)}")


if __name__ == "__main__":
    main()
