"""
A rod swings as beam theory says
================================

A discrete elastic rod, clamped at one end, starts in its first bending mode. Euler and Bernoulli know its
frequency; the shorter the step, the closer the implicit midpoint comes to it.
"""

import matplotlib.pyplot as plt
import numpy as np

import corekit

# %%
# The scenario is the first benchmark of the DisMech paper: 1 m long, 2 cm thick, no gravity.

EI = 1e5 * np.pi * 0.02**4 / 4
frequency = 1.8751040687**2 * np.sqrt(EI / (500.0 * np.pi * 0.02**2))
print(f"ω = {frequency:.6f} rad/s")

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
for step in (1.0, 0.5, 0.25):
    simulation = corekit.load("dismech/cantilever", [f"time.step={step}", f"output.every={step}"]).compose()
    rod = simulation.bodies[0].model
    time, height = [0.0], [0.0]
    while simulation.time < 38.0:
        simulation.step()
        time.append(simulation.time)
        height.append(rod.compute_outline(simulation.state.body_states[0]).points[-1, 2])
    time, height = np.array(time), np.array(height)
    theory = 0.005 / frequency * np.sin(frequency * time)
    above.plot(time, 1e3 * height, ".-", markersize=3, linewidth=0.8, label=f"h = {step} s")
    below.plot(time, 1e3 * (height - theory), linewidth=0.8)
    print(f"h = {step:4.2f} s: farthest from theory {1e3 * np.abs(height - theory).max():.3f} mm")

# %%
# Halving the step quarters the error: the scheme is of second order.

fine = np.linspace(0, 38, 400)
above.plot(fine, 5 / frequency * np.sin(frequency * fine), "k", linewidth=0.8, label="beam theory")
above.set(ylabel="tip height [mm]")
above.legend(loc="lower right")
below.set(xlabel="time [s]", ylabel="difference [mm]")
plt.show()
