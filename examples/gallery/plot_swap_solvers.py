"""
Swap the solver by name
=======================

Every part of a scenario is a word. Overrides replace any of them, so a comparison is a loop.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import corekit

STEPS = 300
choices = {
    "Lemke's pivots": ["contact.solver.options.lcp_solver=lemke"],
    "projected Gauss–Seidel": ["contact.solver.options.lcp_solver=pgs"],
    "semismooth Newton": ["contact.solver.options.lcp_solver=semismooth-newton"],
    "Lemke, detector mpr": ["contact.detector.use=mpr"],
}

tracks, rows = {}, []
for name, overrides in choices.items():
    simulation = corekit.load("cusp/inclined-box", overrides).compose()
    simulation.step()  # compiles at its first use
    track, residual, begin = [simulation.state.q.copy()], 0.0, perf_counter()
    for _ in range(STEPS):
        report = simulation.step()
        residual = max(residual, report.solve_info.residuals.worst)
        track.append(simulation.state.q.copy())
    tracks[name] = np.array(track)
    rows.append((name, 1e6 * (perf_counter() - begin) / STEPS, residual))

# %%
# They answer the same problem: stabilisation and friction belong to the scenario, not to a solver.

print(f"{'':26s}{'time a step':>14s}{'worst residual':>18s}")
for name, microseconds, residual in rows:
    print(f"{name:26s}{microseconds:11.0f} µs{residual:18.1e}")

# %%
# How far the coordinates of each run are from those of the first.

first = next(iter(tracks.values()))
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, track in list(tracks.items())[1:]:
    away = np.abs(track - first).max(axis=1)
    axes.semilogy(1e-3 * np.arange(len(away)), np.maximum(away, 1e-17), label=name)
axes.set(xlabel="time [s]", ylabel="difference from Lemke's run [m]")
axes.legend()
plt.show()
