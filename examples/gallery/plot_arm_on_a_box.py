"""
A soft arm lands, sticks and slides
===================================

A scenario file names the parts; Python steps it, and looks at every contact on the way. This is Scenario A of
the CUSP paper: a pneumatic arm of three sections falls onto an inclined box and is then pressed along it.
"""

import matplotlib.pyplot as plt
import numpy as np

import corekit
from corekit.data.contacts import ContactMode

simulation = corekit.load("cusp/inclined-box").compose()

# %%
# `simulation.step()` advances by one step of the file, here 1 ms; `simulation.contacts()` says what every contact
# did in it: gaps, impulses, slip, and whether it stuck or slid.

time, normal, friction, sliding = [], [], [], []
h = simulation.step_length
while simulation.time < 2.0 - 0.5 * h:
    simulation.step()
    contacts = simulation.contacts()
    time.append(simulation.time)
    normal.append(contacts.normal_impulse.sum() / h)
    friction.append(np.linalg.norm(contacts.tangential_impulse, axis=1).sum() / h)
    sliding.append(
        np.count_nonzero((contacts.mode == ContactMode.SLIDE) & (contacts.normal_impulse > 1e-6 * h))
    )

# %%
# It falls freely, lands after 0.13 s, rests, and slides once the chambers of the outer sections push (from 1 s on).
# The friction force then lies on the edge of its cone, μ times the normal force.

figure, (forces, modes) = plt.subplots(
    2, 1, sharex=True, figsize=(7, 5), height_ratios=(3, 1), layout="constrained"
)
forces.plot(time, normal, label="normal")
forces.plot(time, friction, label="friction")
forces.plot(time, 0.5 * np.array(normal), "k:", linewidth=1, label="μ · normal")
forces.set(ylabel="contact force [N]", ylim=(0, 1.2 * np.percentile(normal, 99)))
forces.legend()
modes.fill_between(time, sliding, step="post", alpha=0.4)
modes.set(xlabel="time [s]", ylabel="sliding\ncontacts")
plt.show()
