"""Small programs with complementarity and published optima, with every relaxation of the planner.

Programs and optima: S. Leyffer's collection MacMPEC, which names the original papers. The signs are such
that every program minimises and every side is ≥ 0. Initial guesses are those of the collection, or zero.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.complementarity.solution import SolveOptions
from corekit_mpcc.complementarity.solve import solve

INF = np.inf
PROBLEMS: dict[str, tuple[float, Callable[[], tuple[Mpcc, np.ndarray]]]] = {}


def listed(optimum: float):
    """Register a problem with its published optimum."""

    def register(make):
        PROBLEMS[make.__name__] = (optimum, make)
        return make

    return register


def program(x, cost, pairs, equal=(), at_most=(), low=-INF, high=INF, start=0.0):
    """Return the program with 0 ≤ G ⊥ H ≥ 0 for (G, H) in pairs, equal = 0, at_most ≤ 0, and its initial guess."""
    rows = []
    if equal:
        rows.append(Rows(name="equal", expression=ca.vertcat(*equal)))
    if at_most:
        rows.append(Rows(name="at most", expression=ca.vertcat(*at_most), low=-INF))
    family = Family(
        name="pairs", first=ca.vertcat(*[g for g, _ in pairs]), second=ca.vertcat(*[h for _, h in pairs])
    )
    stated = Mpcc(x=x, cost=cost, rows=tuple(rows), families=(family,), low=low, high=high)
    return stated, np.broadcast_to(np.asarray(start, dtype=float), (x.numel(),)).copy()


def symbols(count):
    x = ca.SX.sym("x", count)
    return x, ca.vertsplit(x)


@listed(17.0)
def bard1():
    v, (x, y, a, b, c) = symbols(5)
    kkt = 2 * (y - 1) - 1.5 * x + a - 0.5 * b + c
    pairs = [(3 * x - y - 3, a), (-x + 0.5 * y + 4, b), (7 - x - y, c)]
    return program(v, (x - 5) ** 2 + (2 * y + 1) ** 2, pairs, [kkt], low=[0, 0, -INF, -INF, -INF])


@listed(-6598.0)
def bard2():
    v, (x11, x12, x21, x22, y11, y12, y21, y22, l11, l12, l21, l22) = symbols(12)
    first, second = y11 + y21, y12 + y22
    kkt = [
        2 * (y11 - 4) + 0.4 * l11 + 0.6 * l12,
        2 * (y12 - 13) + 0.7 * l11 + 0.3 * l12,
        2 * (y21 - 35) + 0.4 * l21 + 0.6 * l22,
        2 * (y22 - 2) + 0.7 * l21 + 0.3 * l22,
    ]
    pairs = [
        (x11 - 0.4 * y11 - 0.7 * y12, l11),
        (x12 - 0.6 * y11 - 0.3 * y12, l12),
        (x21 - 0.4 * y21 - 0.7 * y22, l21),
        (x22 - 0.6 * y21 - 0.3 * y22, l22),
    ]
    cost = -(200 - first) * first - (160 - second) * second
    high = [10, 5, 15, 20, 20, 20, 40, 40] + 4 * [INF]
    low = 8 * [0.0] + 4 * [-INF]
    return program(v, cost, pairs, kkt, [x11 + x12 + x21 + x22 - 40], low=low, high=high)


@listed(-12.6787)
def bard3():
    v, (x, z, y, w, a, b) = symbols(6)
    pairs = [(x**2 - 2 * x + z**2 - 2 * y + w + 3, a), (z + 3 * y - 4 * w - 4, b)]
    kkt = [2 * y + 2 * a - 3 * b, -5 - a + 4 * b]
    return program(v, -(x**2) - 3 * z - 4 * y + w**2, pairs, kkt, [x**2 + 2 * z - 4], low=0)


@listed(2.0)
def scholtes1():
    v, (x, y, z) = symbols(3)
    cost = (x + 1) ** 2 + (y - 2.5) ** 2 + (z + 1) ** 2
    return program(v, cost, [(y - ca.exp(x) - ca.exp(z), x)], low=[0, -INF, 0], start=1)


@listed(15.0)
def scholtes2():
    v, (x, y, z) = symbols(3)
    cost = (x + 1) ** 2 + y**2 + 10 * (z + 1) ** 2
    return program(v, cost, [(y - ca.exp(x) - ca.exp(z), x)], low=[0, -INF, 0], start=1)


@listed(0.5)
def scholtes3():
    v, (x, y) = symbols(2)
    return program(v, 0.5 * ((x - 1) ** 2 + (y - 1) ** 2), [(x, y)], start=1e-4)


@listed(0.0)
def scholtes4():
    v, (x, y, z) = symbols(3)
    return program(v, x + y - z, [(x, y)], [], [z - 4 * x, z - 4 * y], start=[0, 1, 0])


@listed(1.0)
def scholtes5():
    v, (x, y, z) = symbols(3)
    return program(v, (x - 1) ** 2 + (y - 2) ** 2 + (z + 1) ** 2, [(x, z), (y, z)], start=1)


@listed(0.0)
def ralph1():
    v, (x, y) = symbols(2)
    return program(v, 2 * x - y, [(y, y - x)], low=0)


@listed(0.0)
def ralph2():
    v, (x, y) = symbols(2)
    return program(v, x**2 + y**2 - 4 * x * y, [(x, y)], start=1)


@listed(0.5)
def jr1():
    v, (x, y) = symbols(2)
    return program(v, (x - 1) ** 2 + y**2, [(y, y - x)])


@listed(0.5)
def jr2():
    v, (x, y) = symbols(2)
    return program(v, (y - 1) ** 2 + x**2, [(y, y - x)])


@listed(0.0)
def kth1():
    v, (x, y) = symbols(2)
    return program(v, x + y, [(x, y)], start=[0, 1])


@listed(0.0)
def kth2():
    v, (x, y) = symbols(2)
    return program(v, x + (y - 1) ** 2, [(x, y)], start=[0, 1])


@listed(0.5)
def kth3():
    v, (x, y) = symbols(2)
    return program(v, 0.5 * (x - 1) ** 2 + (y - 1) ** 2, [(x, y)], start=[0, 1])


@listed(-230.823)
def gnash10():
    v, (x, *rest) = symbols(13)
    y, multiplier = rest[:4], rest[4:]
    c, power, capacity, bound = [10.0, 8.0, 6.0, 4.0, 2.0], [1.2, 1.1, 1.0, 0.9, 0.8], 5.0, 150.0
    total = x + sum(y)
    price = 5000 / total
    own = power[0] / (power[0] + 1) * capacity ** (-1 / power[0]) * x ** ((1 + power[0]) / power[0])
    cost = c[0] * x + own - x * price
    equal, pairs = [], []
    for i in range(4):
        marginal = c[i + 1] + capacity ** (-1 / power[i + 1]) * y[i] - price + y[i] * price / total
        equal.append(marginal - multiplier[2 * i] + multiplier[2 * i + 1])
        pairs += [(y[i], multiplier[2 * i]), (bound - y[i], multiplier[2 * i + 1])]
    high = [bound] + 12 * [INF]
    return program(v, cost, pairs, equal, low=[0] + 12 * [-INF], high=high, start=[75] + 12 * [0])


@listed(-1.0)
def desilva():
    v, (x, z, y, w, a, b) = symbols(6)
    cost = x**2 - 2 * x + z**2 - 2 * z + y**2 + w**2
    equal = [2 * (y - x) + 2 * (y - 1) * a, 2 * (w - z) + 2 * (w - 1) * b]
    pairs = [(0.25 - (y - 1) ** 2, a), (0.25 - (w - 1) ** 2, b)]
    low, high = [0, 0] + 4 * [-INF], [2, 2] + 4 * [INF]
    return program(v, cost, pairs, equal, low=low, high=high)


def outrata(cost):
    v, (a, b, c, d, y) = symbols(5)
    pairs = [
        ((1 + 0.2 * y) * a - (3 + 1.333 * y) - 0.333 * c + 2 * a * d, a),
        ((1 + 0.1 * y) * b - y + c + 2 * b * d, b),
        (0.333 * a - b + 1 - 0.1 * y, c),
        (9 + 0.1 * y - a**2 - b**2, d),
    ]
    low, high = 5 * [0.0], 4 * [INF] + [10.0]
    return program(v, cost((a - 3) ** 2 + (b - 4) ** 2, c, d, y) / 2, pairs, low=low, high=high)


@listed(3.2077)
def outrata31():
    return outrata(lambda base, c, d, y: base)


@listed(3.4494)
def outrata32():
    return outrata(lambda base, c, d, y: base + (c - 1) ** 2)


@listed(4.60425)
def outrata33():
    return outrata(lambda base, c, d, y: base + 10 * d**2)


@listed(6.59268)
def outrata34():
    return outrata(lambda base, c, d, y: base + (c - 1) ** 2 + (d - 1) ** 2 + y**2)


@listed(28.25)
def dempe():
    v, (x, z, w) = symbols(3)
    cost = (x - 3.5) ** 2 + (z + 4) ** 2
    return program(v, cost, [(x - z**2, w)], [z - 3 + 2 * z * w], start=[0.183193, 0.428106, 3.00379])


@listed(-3266.67)
def stackelberg1():
    v, (x, y, m) = symbols(3)
    cost = 0.5 * x**2 + 0.5 * x * y - 95 * x
    return program(v, cost, [(y, m)], [2 * y + 0.5 * x - 100 - m], low=0, high=[200, INF, INF])


@listed(100.0)
def ex9_2_2():
    v, (x, y, s, t, r, a, b, c) = symbols(8)
    equal = [x + y + s - 20, t - y, y + r - 20, 2 * (x + 2 * y - 30) + a - b + c]
    high = [15] + 7 * [INF]
    return program(v, x**2 + (y - 10) ** 2, [(a, s), (b, t), (c, r)], equal, [y - x], low=0, high=high)


@listed(0.5)
def ex9_2_4():
    v, (m, x, y, z, s, t, a, b) = symbols(8)
    equal = [y + z - x, s - y, t - z, y + m - a, 1 + m - b]
    low = [-INF] + 7 * [0]
    return program(v, 0.5 * (y - 2) ** 2 + 0.5 * (z - 2) ** 2, [(a, s), (b, t)], equal, low=low)


@listed(1.5)
def ex9_2_8():
    v, (x, y, s, t, a, b) = symbols(6)
    equal = [s - y, y + t - 1, 4 * x - 1 - a + b]
    high = [1] + 5 * [INF]
    return program(v, -4 * x * y + 3 * y + 2 * x + 1, [(a, s), (b, t)], equal, low=0, high=high)


SETTINGS = {
    "scholtes": SolveOptions(
        schedule="homotopy", first_relaxation=1.0, final_relaxation=1e-8, tolerance=1e-8, polish="always"
    ),
    "fischer-burmeister": SolveOptions(
        schedule="homotopy", first_relaxation=1.0, final_relaxation=1e-8, tolerance=1e-8, polish="always"
    ),
    "exact-penalty": SolveOptions(
        schedule="homotopy", first_relaxation=1.0, final_relaxation=1e-7, tolerance=1e-8, polish="always"
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_relaxation_finds_the_published_optimum(name: str) -> None:
    optimum, make = PROBLEMS[name]
    stated, start = make()
    for relaxation, options in SETTINGS.items():
        answer = solve(stated, start, relaxation=relaxation, options=options)
        assert answer.outcome.solved, (relaxation, answer.outcome, answer.attempts)
        assert answer.cost == pytest.approx(optimum, rel=1e-4, abs=1e-4), relaxation
        assert answer.certificate.complementarity <= 1e-6
        assert answer.certificate.infeasibility <= 1e-6
