"""The flat form of an arm is the arm."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.geometry.frames import Pose
from corekit_pcc.arm import Arm, arm_of
from corekit_pcc.chain import Work
from corekit_pcc.config import PCCConfig
from corekit_pcc.packed import pack, unpack, work_of


@pytest.mark.parametrize(
    "options",
    [
        {"sections": 1, "mass": 0.3},
        {"sections": 3, "chambers": (3, 4, 5), "disks": (2, 0, 3), "disk_inertia": (1e-4, 0.0, 2e-4)},
    ],
)
def test_views_of_the_flat_arrays_are_the_tables_they_were_made_of(options):
    arm = arm_of(PCCConfig(**options), Pose(position=np.array([1.0, 2.0, 3.0])), np.array([0.0, 0.1, -9.8]))
    packed = pack(arm)
    again = unpack(packed.table, packed.integers)
    for name, expected, found in zip(Arm._fields, arm, again, strict=True):
        assert found.shape == expected.shape, name
        assert np.array_equal(found, expected), name

    views, separate = work_of(packed.buffer, len(arm.length)), Work.allocate(len(arm.length))
    assert [view.shape for view in views] == [each.shape for each in separate]
    for k, view in enumerate(views):
        view[...] = k + 1.0
    assert [np.all(view == k + 1.0) for k, view in enumerate(views)] == [True] * len(views)  # none overlaps
    assert np.all(packed.buffer > 0.0)  # and all is used
