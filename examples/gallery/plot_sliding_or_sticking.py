"""
When does a box slide?
======================

A scenario can be written in Python as well. A box lies on a plane inclined by a slope; Coulomb says that it slides
once the tangent of the slope exceeds the friction coefficient, and then with the acceleration g·(sin − μ·cos).
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from corekit.scenario.load import from_document
from corekit.scenario.scenario import Scenario

FRICTION, G, H = 0.5, 9.81, 1e-3


def box_on_a_plane(slope: float) -> Scenario:
    """A box of 1 kg at rest on a half-space inclined by `slope` [rad] about y."""
    turned = [0.0, slope, 0.0]
    up = 0.05 * np.array([math.sin(slope), 0.0, math.cos(slope)])
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "box-on-a-plane",
            "time": {"duration": 0.3, "step": H},
            "world": {
                "obstacles": [
                    {"name": "plane", "shape": "half-space", "rotation_rpy": turned, "friction": FRICTION}
                ]
            },
            "bodies": [
                {
                    "name": "box",
                    "use": "rigid",
                    "base": {"position": up, "rotation_rpy": turned},
                    "options": {"shape": "box", "size": [0.1, 0.1, 0.1], "mass": 1.0, "friction": FRICTION},
                }
            ],
            "contact": {"detector": {"use": "sdf"}, "solver": {"use": "lcp"}},
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": 0.01},
        }
    )


# %%
# One run a slope; the speed at its end gives the acceleration.

slopes = np.radians(np.linspace(15.0, 45.0, 21))
found = []
for slope in slopes:
    simulation = box_on_a_plane(slope).compose()
    simulation.run(0.3)
    found.append(np.linalg.norm(simulation.state.v[:3]) / 0.3)

expected = np.maximum(0.0, G * (np.sin(slopes) - FRICTION * np.cos(slopes)))
print(f"largest difference {np.abs(np.array(found) - expected).max():.1e} m/s²")

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(np.degrees(slopes), expected, "k", linewidth=0.8, label="g·(sin − μ·cos)")
axes.plot(np.degrees(slopes), found, "o", markersize=4, label="simulated")
axes.axvline(math.degrees(math.atan(FRICTION)), color="0.6", linestyle=":", label="tan = μ")
axes.set(xlabel="slope [°]", ylabel="acceleration [m/s²]")
axes.legend()
plt.show()
