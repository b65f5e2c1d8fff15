"""A model whose answers do not fit its own description is refused before anything is computed with it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import CompositionError
from corekit.linalg.matrices import Dense
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world


def chain():
    return PointChain(PointChainConfig(positions=((0.0, 0.0, 1.0),), shape="sphere"))


def world(ball):
    return small_world({"ball": ball}, SemiImplicitEuler(), step=1e-3)


def described(change):
    """Return PointChain's description with a change."""
    own = PointChain.description
    return property(lambda self: change(own.__get__(self)))


def on_frame(**frames):
    return lambda about: evolve(about, shapes=tuple(evolve(shape, **frames) for shape in about.shapes))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("new_mass_matrix", lambda self: Dense(5), "new_mass_matrix of PointChain (body 'ball') gives a matrix of"),
        (
            "new_stiffness_and_damping", lambda self: (Dense(3), Dense(2)),
            "new_stiffness_and_damping of PointChain (body 'ball') gives a matrix of size 2, and it has 3 velocities",
        ),
        ("description", described(on_frame(frame=2)), "the frame of a shape of PointChain (body 'ball') is number 2"),
        ("description", described(on_frame(second_frame=1)), "the second frame of a shape of PointChain (body 'ball')"),
        (
            "description", described(lambda about: evolve(about, prescribed_velocity_index=np.array([3]))),
            "the prescribed velocity of PointChain (body 'ball') is number 3, and there are 3, from 0 on",
        ),
    ],
)  # fmt: skip
def test_it_is_named_with_what_does_not_fit(name, value, said, monkeypatch):
    ball = chain()
    world(ball)
    monkeypatch.setattr(PointChain, name, value)
    with pytest.raises(CompositionError, match=re.escape(said)):
        world(ball)
