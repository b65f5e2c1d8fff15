"""
Equilibria: an arch bows and snaps
==================================

`statics` looks for equilibria instead of stepping through time, here one after the other along the loads of a
scenario: a clamped rod is pushed together until it must bow, then a force on its crown snaps it through.
"""

import matplotlib.pyplot as plt
import numpy as np

import corekit

found = corekit.load("teaching/arch-snaps").statics(sweep=40)

# %%
# Every equilibrium says whether it is stable, and how much force stays unbalanced.

times = np.linspace(0.0, 2.0, len(found.path))
lines = [found.frame_position(rest) for rest in found.path]
crowns = np.array([line[np.argmax(np.abs(line[:, 2])), 2] for line in lines])
for k in (0, 10, 20, 30, 40):
    print(f"t = {times[k]:.1f} s: crown at {1e3 * crowns[k]:7.2f} mm, {found.path[k].stability}")

# %%
# Up to 1 s the ends come together, from then on the force grows to 0.2 N: the branch with the crown up ends, and the
# next equilibrium lies on the other side.

figure, (shapes, path) = plt.subplots(2, 1, figsize=(7, 6), layout="constrained")
for k, line in enumerate(lines):
    shapes.plot(1e3 * line[:, 0], 1e3 * line[:, 2], color=plt.cm.viridis(k / 40), linewidth=1)
shapes.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
path.plot(times, 1e3 * crowns, ".-")
path.axvline(1.0, color="0.6", linestyle=":")
path.set(xlabel="time of the loads [s]", ylabel="crown [mm]")
plt.show()
