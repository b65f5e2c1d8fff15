"""What the kernel's conformance kit asks of any model, of graphs of rods drawn at random."""

import numpy as np
from hypothesis import strategies as st

from corekit_testing.conformance import conformance_of_drawn, rounded


def profile(low, high):
    """One number, or one at the start and one at the end."""
    return rounded(low, high) | st.lists(rounded(low, high), min_size=2, max_size=2)


@st.composite
def courses(draw, start, heading, planar):
    """Nodes in the x-z plane, straight or turning by at most 0.8 rad at a node, or out of it too; and headings."""
    count, edge, straight = draw(st.integers(3, 7)), draw(rounded(0.03, 0.06)), draw(st.booleans())
    turns = [0.0 if straight else draw(rounded(0.1, 0.8)) for _ in range(count - 2)]
    headings = heading + np.cumsum([0.0, *turns])
    rise = np.arange(count - 1) * (0.0 if planar or straight else draw(st.sampled_from([0.0, 0.2])))
    along = np.column_stack([np.cos(headings) * np.cos(rise), np.sin(rise), np.sin(headings) * np.cos(rise)])
    points = np.array(start) + edge * np.vstack([np.zeros(3), np.cumsum(along, axis=0)])
    if straight:
        return {"start": points[0].tolist(), "end": points[-1].tolist(), "nodes": count}, points, headings
    return {"points": points.tolist()}, points, headings


def sections(planar):
    """Director 1 along y is across the first edge; a planar rod has its own."""
    director = {} if planar else {"director": st.just([0, 1, 0])}
    given = {
        "area": profile(5e-5, 2e-4),
        "inertia_1": profile(1e-10, 1e-9),
        "inertia_2": profile(1e-10, 1e-9),
        "torsion": profile(1e-10, 1e-9),
    }
    by_kind = {
        "round": {"radius": profile(0.004, 0.01)},
        "rectangle": {"width": profile(0.005, 0.02), "height": profile(0.003, 0.01)},
        "given": given,
    }
    return st.one_of(
        [
            st.fixed_dictionaries({"section": st.just(kind)} | sizes, optional=director)
            for kind, sizes in by_kind.items()
        ]
    )


def matter(planar):
    """What else a limb may have; planar rods bend about y alone."""
    curvature, other = rounded(-5, 5), st.just(0) if planar else rounded(-5, 5)
    return st.fixed_dictionaries(
        {},
        optional={
            "unloaded": st.sampled_from(["shape", "straight"]),
            "young": profile(1e5, 1e7),
            "poisson": rounded(-0.3, 0.5),
            "density": profile(500, 2000),
            "viscosity": profile(0, 1e3),
            "natural_curvature": st.tuples(curvature, other).map(list),
            "natural_twist": other,
            "curvature_input": st.sampled_from(["uniform", "nodes"]),
            "viscous_drag": rounded(0, 1),
            "drag_normal": rounded(0, 1),
            "drag_tangential": rounded(0, 1),
            "fluid_density": rounded(0, 1000),
            "added_mass": rounded(0, 1),
        },
    )


@st.composite
def cables(draw, limb, planar):
    """Along a limb, with friction if it is bent: where it is straight a turn of the cable has a kink."""
    offset = [draw(rounded(-0.005, 0.005)), 0 if planar else draw(rounded(-0.005, 0.005))]
    cable = {"name": f"along-{limb['name']}", "limb": limb["name"], "offset": offset}
    if draw(st.booleans()):
        cable |= {"drive": "length", "stiffness": draw(rounded(10, 1000))}
    if "points" in limb and draw(st.booleans()):
        cable["friction"] = draw(rounded(0.1, 0.5))
    return cable


@st.composite
def clamps(draw, planar, mounted):
    """At the first node; a base that moves holds a direction and is moved by nothing else."""
    kind = draw(st.sampled_from(["clamp", "edge"] if mounted else ["clamp", "edge", "pin"]))
    clamp = {"at": "r0.start", "kind": kind}
    if mounted:
        return clamp

    def sine(amplitude):
        return st.fixed_dictionaries(
            {"kind": st.just("sine"), "amplitude": amplitude, "frequency": rounded(0.2, 2)}
        )

    turn = sine(rounded(0.1, 1))
    shift = rounded(0, 0.02)
    motions = {"displacement": sine(st.tuples(shift, st.just(0) if planar else shift, shift).map(list))}
    if kind != "pin":
        motions |= {} if planar else {"twist": turn}
        axis = [0, 1, 0] if planar else [0.6, 0, 0.8]
        clamp |= draw(st.just({}) | st.fixed_dictionaries({"axis": st.just(axis), "angle": turn}))
    return clamp | draw(st.fixed_dictionaries({}, optional=motions))


@st.composite
def rods(draw, mounted=False):
    """A chain of limbs, each held to a node of the one before, or a ring."""
    planar = not mounted and draw(st.booleans())
    options = {
        "planar": planar,
        "collision": draw(st.sampled_from(["edges", "spheres", "capsules", "none"])),
        "self_contact": draw(st.booleans()),
    }
    if not mounted and draw(st.integers(0, 3)) == 3:
        angles = np.linspace(0, 2 * np.pi, draw(st.integers(3, 7)), endpoint=False)
        ring = np.column_stack([np.cos(angles), 0 * angles, np.sin(angles)])
        shape = {"name": "r0", "closed": True, "points": (draw(rounded(0.05, 0.1)) * ring).tolist()}
        return options | {"limbs": [shape | draw(sections(planar)) | draw(matter(planar))]}
    limbs, joints, points, headings = [], [], [[0.0, 0.0, 0.0]], [draw(rounded(-3, 3))]
    for i in range(draw(st.integers(1, 3))):
        at = draw(st.integers(1, len(points) - 1)) if i else 0
        # to the other side than the limb turns, away from both edges at the node
        heading = headings[max(at - 1, 0)] - (draw(rounded(0.5, 2)) if i else 0)
        if i:
            elastic = st.fixed_dictionaries({"kind": st.just("elastic"), "stiffness": rounded(0.2, 2)})
            joint = draw(st.just({"kind": "pin"}) | elastic)
            joints.append({"at": [f"r{i - 1}.{at}", f"r{i}.start"]} | joint)
        course, points, headings = draw(courses(points[at], heading, planar))
        limbs.append({"name": f"r{i}"} | course | draw(sections(planar)) | draw(matter(planar)))
    held = mounted or draw(st.booleans())
    force = {"name": "tip", "at": f"r{len(limbs) - 1}.end", "follows": draw(st.booleans())}
    return options | {
        "limbs": limbs,
        "joints": joints,
        "clamps": [draw(clamps(planar, mounted))] if held else [],
        "forces": [force] if draw(st.booleans()) else [],
        "cables": [draw(cables(limb, planar)) for limb in limbs if draw(st.booleans())],
        "gyroscopic": not planar and draw(st.booleans()),
    }


# edges are short beside the whole: displaced by as much as other models they would fold onto each other
test_rods = conformance_of_drawn("models", "der", rods(), examples=2, spread=0.2)
test_mounted_rods = conformance_of_drawn(
    "models", "der", rods(mounted=True), examples=2, spread=0.2, free_base=True
)
