"""What DisMech's C++ code moved: numbers kept of runs of its own helix and spider, built from its sources.

Commit ea6b818 with MKL's PARDISO 2026.2 and Eigen 3.4.0, one thread, two-core EPYC, 2026-11-23; functions that it makes
with SymEngine were written by hand. Helix b1 by implicit midpoint at 1 ms, Newton's tolerance 1e-6 m/s; the spider by
implicit Euler at 1 ms with adaptive steps, its "accurate" settings.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_study.reference import stored

__all__ = ["HELIX_TIMES", "HELIX_TIP", "SPIDER_FASTEST", "SPIDER_TOP", "STORED"]

STORED = stored("DisMech's C++ code, ea6b818", "stored, run on 2026-11-23 on a two-core EPYC")
SPIDER_FASTEST = 0.211
"""Of all nodes from 1.5 to 2 s, from places 10 ms apart [m/s]."""
SPIDER_TOP = 0.107
"""The same of the node on top."""
HELIX_TIMES = np.linspace(0.1, 10.0, 100)
HELIX_TIP: Array = 1e-3 * np.array([
    -210.974, -187.410, -208.807, -191.895, -203.126, -194.664, -198.772, -201.641, -193.667, -207.117,
    -187.824, -209.170, -186.273, -210.882, -187.906, -209.589, -188.620, -205.099, -193.177, -201.404,
    -199.896, -195.221, -203.849, -190.835, -207.056, -188.911, -210.561, -187.503, -208.563, -187.868,
    -207.084, -192.848, -202.886, -196.920, -197.354, -199.904, -194.533, -205.041, -191.949, -207.679,
    -187.815, -208.115, -189.600, -206.902, -192.214, -204.288, -193.413, -201.303, -197.268, -197.993,
    -202.395, -193.731, -203.219, -191.986, -204.940, -192.137, -206.808, -190.821, -205.227, -191.823,
    -203.232, -196.264, -201.323, -197.027, -197.476, -199.304, -196.297, -202.353, -194.353, -204.229,
    -191.665, -205.433, -192.247, -205.542, -192.825, -203.119, -193.312, -202.357, -194.992, -200.782,
    -199.197, -196.321, -201.140, -194.310, -202.962, -193.438, -206.032, -189.917, -206.732, -190.298,
    -205.732, -193.392, -203.878, -194.274, -200.540, -196.728, -198.141, -202.115, -192.878, -204.989,
])  # fmt: skip
"""z of the last node of b1 at these times [m]."""
