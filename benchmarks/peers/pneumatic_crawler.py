"""SoMo's crawler beside `teaching/pneumatic-crawler`: how far both crawl in a period, and what it costs.

`somo_chain.py` says how SoMo makes the strip. Two chains of links give the limit that its advance tends to. What
differs from the shipped scenario:

- PyBullet has one coefficient a link, none by direction. Here each foot gets before each step the one of the side to
  which the floor pushed it in the step before: forward means that it would slide backward. By the sign of its velocity
  instead, a foot that rests would change it at each step, and creep.
- The chain starts at rest without pressure, which rises in 0.5 s. The second period is compared: it is steady.

Both laws share a figure without friction: how far apart the feet are at rest at the highest pressure.

    pip install pybullet pyyaml git+https://github.com/GrauleM/somo    # pybullet is compiled unless Python is 3.11
    python benchmarks/peers/pneumatic_crawler.py [--json]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peer_script import run_script
from somo_chain import Lump, Strip, limit, names_of_programs, start

from corekit.data.arrays import Array
from corekit.scenario.load import load

SCENARIO = "teaching/pneumatic-crawler"
SHIPPED: Any = load(SCENARIO)
CRAWLER = SHIPPED.bodies[0]
REAR, STRIP, FRONT = CRAWLER.options["links"]
PART, CHAMBER = STRIP["divisions"][0], CRAWLER.options["chambers"][0]
LEVER = CHAMBER["area"][0] * CHAMBER["z"][0]
GAIT = CRAWLER.inputs[0].signal
LOWEST, HIGHEST, PERIOD = GAIT.offset - GAIT.amplitude, GAIT.offset + GAIT.amplitude, 1.0 / GAIT.frequency
CHAINS = ((5, 8e-5), (10, 8e-6))
"""Links, and a stable step [s]."""
SETTLED = 0.5
"""When the gait begins [s]."""


def lump(foot: dict[str, Any], place: float) -> Lump:
    balls = [(ball.get("position", (0.0, 0.0))[1], ball["size"][0]) for ball in foot["solids"]]
    return Lump(place, foot["mass"], foot["inertia"], balls)


class Crawler:
    """SoMo's chain on PyBullet's floor, along x."""

    def __init__(
        self, links: int, step: float, friction: tuple[float, float], viscosity: float, drag: float = 0.0
    ) -> None:
        self.step_size, self.friction, self.time = step, friction, 0.0
        self.bullet, self.client = start(step, SHIPPED.world.gravity)
        self.strip = Strip(PART, links, [lump(REAR, 0.0), lump(FRONT, PART["length"])])
        plane = self.bullet.createCollisionShape(self.bullet.GEOM_PLANE)
        self.floor = self.bullet.createMultiBody(0.0, plane)
        self.bullet.changeDynamics(self.floor, -1, lateralFriction=1.0)
        above = np.array([0.0, 0.0, FRONT["solids"][0]["size"][0]])
        forward = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        self.strip.load(self.bullet, self.client, above, forward, "free", friction[0], viscosity, drag)
        self.body, self.last = self.strip.body, links - 1
        self.current = {-1: friction[0], self.last: friction[0]}
        self.places = {-1: np.zeros(3), self.last: np.array([0.0, 0.0, 0.5 * self.strip.length])}
        for i, place in self.places.items():
            place -= self.bullet.getDynamicsInfo(self.body, i)[3]

    def foot(self, i: int) -> Array:
        """Its centre [m]."""
        bullet = self.bullet
        pose = (
            bullet.getBasePositionAndOrientation(self.body)
            if i < 0
            else bullet.getLinkState(self.body, i)[:2]
        )
        return (
            np.array(pose[0]) + np.reshape(bullet.getMatrixFromQuaternion(pose[1]), (3, 3)) @ self.places[i]
        )

    def choose_friction(self) -> None:
        """Of both feet, for the next step."""
        for i, old in self.current.items():
            push = sum(
                c[10] * c[11][0] + c[12] * c[13][0]  # both tangential forces along x
                for c in self.bullet.getContactPoints(self.body, self.floor, i, -1)
            )
            new = self.friction[1] if push > 0.0 else self.friction[0]
            if new != old:
                self.bullet.changeDynamics(self.body, i, lateralFriction=new)
                self.current[i] = new

    def run(self, end: float, pressure: Callable[[float], float]) -> None:
        """Up to the time `end` [s]."""
        for _ in range(round((end - self.time) / self.step_size)):
            if self.friction[0] != self.friction[1]:
                self.choose_friction()
            self.strip.bend(pressure(self.time) * LEVER)
            self.bullet.stepSimulation()
            self.time += self.step_size

    def close(self) -> None:
        self.bullet.disconnect(self.client)


def pressure_of_gait(now: float) -> float:
    if now < SETTLED:
        return LOWEST * now / SETTLED
    return GAIT.offset - GAIT.amplitude * math.cos(2.0 * math.pi * (now - SETTLED) / PERIOD)


def theirs(links: int, step: float) -> tuple[float, float]:
    """Advance in the second period [m], and processor time per second of it [s]."""
    friction = CRAWLER.friction["forward"], CRAWLER.friction["backward"]
    crawler = Crawler(links, step, friction, PART["viscosity"])
    crawler.run(SETTLED + PERIOD, pressure_of_gait)
    before, begin = crawler.foot(-1), time.thread_time()
    crawler.run(SETTLED + 2.0 * PERIOD, pressure_of_gait)
    spent, after = time.thread_time() - begin, crawler.foot(-1)
    crawler.close()
    return float(after[0] - before[0]), spent / PERIOD


def their_span(links: int) -> float:
    """How far apart the feet are at rest under the highest pressure, without friction [m].

    A drag brings it to rest, and a tenth of the viscosity allows for longer steps.
    """
    crawler = Crawler(links, 4e-5, (0.0, 0.0), 0.1 * PART["viscosity"], drag=30.0)
    crawler.run(1.2, lambda now: HIGHEST * min(1.0, now / 0.6))
    span = np.linalg.norm(crawler.foot(crawler.last) - crawler.foot(-1))
    crawler.close()
    return float(span)


def ours() -> tuple[float, float]:
    """The advance and time of the shipped scenario."""
    simulation = load(SCENARIO).compose()
    simulation.warm_up()
    simulation.run(PERIOD)
    before, begin = simulation.frame("crawler.rear.base").position[0], time.thread_time()
    simulation.run(2.0 * PERIOD)
    spent = time.thread_time() - begin
    return float(simulation.frame("crawler.rear.base").position[0] - before), spent / PERIOD


def our_span() -> float:
    pressure = f"bodies[0].inputs[0].signal={{kind='constant', value={HIGHEST}}}"
    simulation = load(SCENARIO, ["bodies[0].friction=0.0", pressure]).compose()  # starts in equilibrium
    rear, front = (simulation.frame(f"crawler.{name}.base").position for name in ("rear", "front"))
    return float(np.linalg.norm(front - rear))


def measure() -> dict[str, float]:
    """Numbers for `corekit bench`; lengths in mm."""
    (links, step), (finer, fine_step) = CHAINS
    (coarse, _), (half, _), (fine, spent) = (
        theirs(links, step),
        theirs(links, 0.5 * step),
        theirs(finer, fine_step),
    )
    (advance, our_time), their_advance = ours(), limit(coarse, fine, links, finer)
    span, their_spans = our_span(), (their_span(links), their_span(finer))
    numbers = {
        "advance": advance, "their advance": their_advance, f"of {links} links": coarse,
        f"of {links} links at half the step": half, f"of {finer} links": fine,
        "span": span, "their span": limit(*their_spans, links, finer), f"span of {finer} links": their_spans[1],
    }  # fmt: skip
    return {
        "ratio": our_time / spent, "s per s": our_time, "theirs": spent,
        "difference": abs(advance / their_advance - 1.0), **{key: 1e3 * value for key, value in numbers.items()},
    }  # fmt: skip


def name_of_case() -> str:
    return f"a crawler's second period, {names_of_programs()}"


if __name__ == "__main__":
    run_script(__doc__, name_of_case, measure)
