"""What the kernel's conformance kit asks of any model, of trees of links drawn at random."""

from hypothesis import strategies as st

from corekit_gvs.basis import MODES, PER_ELEMENT
from corekit_gvs.joints import JOINT_SIZES
from corekit_testing.conformance import conformance_of_drawn, rounded

ALONG_VECTOR = ("revolute", "prismatic", "helical", "cylindrical")
AXES = st.sampled_from(["x", "y", "z"])
ALONG = st.tuples(rounded(-1, 1), rounded(-1, 1), st.just(0.5)).map(list)


def vectors(size, count=3):
    return st.lists(rounded(-size, size), min_size=count, max_size=count)


def positive(low, high, count=3):
    return st.lists(rounded(low, high), min_size=count, max_size=count)


@st.composite
def joints(draw, kinds, may_be_given):
    kind = draw(st.sampled_from(kinds))
    size, one = JOINT_SIZES[kind], JOINT_SIZES[kind] == 1
    joint = {"kind": kind, "pitch": 0.05} if kind == "helical" else {"kind": kind}
    if kind == "universal":
        joint["axis"], joint["second"] = draw(st.permutations(["x", "y", "z"]))[:2]
    elif kind not in ("fixed", "spherical", "free"):
        joint["axis"] = draw(AXES | ALONG if kind in ALONG_VECTOR else AXES)
    if not size:
        return joint
    moved = draw(
        st.sampled_from(
            ["freely", "driven"] + ["given"] * (may_be_given and kind not in ("spherical", "free"))
        )
    )
    if moved == "given":
        motion = {"kind": "sine", "amplitude": [0.3] * size, "frequency": draw(rounded(0.2, 2))}
        return joint | {"motion": motion}
    each = {"stiffness": rounded(0, 2), "damping": rounded(0, 0.2)}
    each = {name: of | st.lists(of, min_size=size, max_size=size) for name, of in each.items()}
    each |= {"armature": rounded(0, 1e-3)} if kind != "free" else {}
    joint |= draw(st.fixed_dictionaries({}, optional=each))
    if one and draw(st.booleans()):
        # a row changes from one limit to the other in the middle: no state of the kit is there
        joint |= {"limits": [draw(rounded(-1, -0.5)), draw(rounded(1.2, 2))]}
    if one and draw(st.booleans()):
        joint["dry_friction"] = draw(rounded(0.01, 0.1))
    return joint | ({"driven": True} if moved == "driven" else {})


@st.composite
def bases(draw, modes):
    kinds = ["constant", "monomial", "legendre", "chebyshev", "fourier", *PER_ELEMENT, "custom", "dependent"]
    kind = draw(st.sampled_from(kinds))
    basis = {"kind": kind, "modes": modes}
    if kind in ("monomial", "legendre", "chebyshev", "fourier"):
        return basis | {"order": draw(st.integers(0, 2))}
    if kind in PER_ELEMENT:
        return basis | {"elements": draw(st.integers(1, 2))}
    if kind == "custom":
        return basis | {"functions": ["1", "sin(3*X)"]}
    if kind == "dependent":
        formulas = st.sampled_from(["q1*(1 + X) + q2*X**2", "sin(q1)*X + q2", "q1*q2*X + 0.5*q2 + q1"])
        return basis | {"coordinates": 2, "functions": [draw(formulas) for _ in modes]}
    return basis


@st.composite
def divisions(draw):
    modes = draw(st.lists(st.sampled_from(list(MODES)), min_size=1, max_size=6, unique=True))
    cut = draw(st.integers(0, len(modes) - 1))
    strain = [draw(bases(part)) for part in (modes[:cut], modes[cut:]) if part]
    sections = {
        "circle": {},
        "rectangle": {"height": st.just([0.02, -0.004]), "width": rounded(0.005, 0.02)},
        "ellipse": {"height": rounded(0.005, 0.02), "width": st.just("0.01 + 0.005*X")},
        "given": {"inertia": positive(1e-5, 1e-3, 6), "rigidity": positive(0.01, 1, 6)},
    }
    kind = draw(st.sampled_from(list(sections)))
    material = {
        "young": rounded(1e5, 1e7),
        "poisson": rounded(-0.3, 0.5),
        "density": rounded(500, 2000),
        "viscosity": rounded(0, 1e4),
    }
    given = {"viscous_rigidity": positive(0, 0.01, 6)} if kind == "given" else material
    reference = [rounded(-2, 2), st.sampled_from(["0", "3.0", "5*cos(X)"]), rounded(-2, 2)]
    more = {
        "radius": st.sampled_from([[0.012], [0.015, -0.005], "0.012 - 0.004*X**2"]),
        "reference": st.tuples(*reference, *map(st.just, (1, 0, 0))).map(list),
        "magnus": st.sampled_from([2, 4]),
        "drag": positive(0, 1.2),
        "lift": vectors(0.2),
        "added_mass": positive(0, 0.8),
    }
    out = {"length": draw(rounded(0.05, 0.3)), "section": kind, "strain": strain}
    # few points of the trapezoid rule, whose 101 take long
    out["points"] = (
        8 if any(basis["kind"] == "dependent" for basis in strain) else draw(st.sampled_from([0, 8]))
    )
    return out | draw(st.fixed_dictionaries(sections[kind], optional=given | more))


def soft():
    kinds = st.sampled_from(["spheres", "capsules", "disks"])
    touching = st.fixed_dictionaries({"collision": kinds}, optional={"shapes": st.integers(1, 3)})
    own = st.fixed_dictionaries(
        {"divisions": st.lists(divisions(), min_size=1, max_size=2)},
        optional={"frames": st.just([0.3, 0.8])},
    )
    return st.tuples(own, st.just({}) | touching).map(lambda parts: parts[0] | parts[1])


@st.composite
def rigid(draw):
    """With the inertia of points on the axes."""
    x, y, z = draw(positive(1e-4, 1e-3))
    solid = {
        "shape": "box",
        "size": [0.03, 0.02, 0.04],
        "position": [0.01, 0, 0.02],
        "rotation_rpy": [0.3, 0.2, 0],
    }
    more = {
        "centre": vectors(0.05),
        "tip_rpy": vectors(1),
        "drag": positive(0, 1, 6),
        "added_mass": positive(0, 1e-3, 6),
        "buoyant_volume": rounded(0, 1e-4),
    }
    shape = draw(
        st.sampled_from([{}, {"solids": [solid]}, {"collision": "capsules"}, {"collision": "spheres"}])
    )
    own = {"mass": rounded(0.05, 0.5), "tip": vectors(0.1, 2).map(lambda tip: [0.1, *tip])}
    rest = draw(st.fixed_dictionaries(own, optional=more))
    return {"kind": "rigid", "inertia": [y + z, z + x, x + y]} | shape | rest


@st.composite
def actions(draw, links):
    """Cables, chambers and wrenches along soft links, tendons and loads at tips."""
    out = {name: [] for name in ("cables", "chambers", "distributed", "tendons", "loads")}
    by_length = {"drive": "length", "stiffness": 200.0}
    for link in links:
        name = link["name"]
        if "divisions" in link:
            if draw(st.booleans()):
                cable = {
                    "y": draw(st.sampled_from([0.01, "0.01*sin(20*s)"])),
                    "friction": draw(rounded(0, 0.5)),
                }
                cable |= draw(st.sampled_from([{}, by_length]))
                out["cables"].append({"name": f"{name}-c", "link": name} | cable)
            if draw(st.booleans()):
                out["chambers"].append({"name": f"{name}-p", "link": name, "divisions": [0], "y": 0.005})
            if draw(st.booleans()):
                wrench = {"wrench": ["0.01*X", "0", "0.02", "0", "0.1", "X**2"], "input": True}
                kind = draw(st.sampled_from(["internal", "section", "world"]))
                out["distributed"].append({"name": f"{name}-d", "link": name, "kind": kind} | wrench)
        if draw(st.booleans()):
            load = {"follows": draw(st.booleans()), "offset": draw(vectors(0.02))}
            out["loads"].append({"name": f"{name}-f", "at": f"{name}.tip"} | load)
        if draw(st.booleans()):
            tendon = {
                "name": f"{name}-t",
                "first": "world",
                "first_offset": [0.3, -0.4, 0.5],
                "second": f"{name}.tip",
            }
            out["tendons"].append(tendon | draw(st.sampled_from([{}, by_length])))
    return {name: given for name, given in out.items() if given}


@st.composite
def trees(draw, mounted=False):
    links = []
    for i in range(draw(st.integers(1, 3))):
        name, base = f"l{i}", [] if mounted else [""]
        on = draw(st.sampled_from([f"{link['name']}.tip" for link in links] + base)) if i else ""
        link = {"name": name, "on": on} | draw(rigid() if draw(st.booleans()) else soft())
        if mounted and not i:
            links.append(link)
            continue
        # something has to move that is not given
        moves = "divisions" in link or bool(i)
        place = {"position": vectors(0.1), "rotation_rpy": vectors(1)}
        link["joint"] = draw(joints([kind for kind, size in JOINT_SIZES.items() if moves or size], moves))
        links.append(link | draw(st.fixed_dictionaries({}, optional=place)))
    out = {"links": links} | draw(actions(links))
    if len(links) > 1 and draw(st.booleans()):
        kind = draw(st.sampled_from(["spherical", "revolute", "cylindrical", "planar", "universal"]))
        loop = {"first": f"l{len(links) - 1}.tip", "second": "l0.tip", "joint": {"kind": kind}}
        loose = {"compliance": rounded(0, 1e-3), "first_offset": vectors(0.05), "second_rpy": vectors(1)}
        out["loops"] = [loop | draw(st.fixed_dictionaries({}, optional=loose))]
    more = {
        "fluid_density": rounded(0, 1000),
        "regularisation": rounded(0, 1e-6),
        "self_contact": st.booleans(),
    }
    return out | draw(st.fixed_dictionaries({}, optional=more))


test_trees = conformance_of_drawn("models", "gvs", trees(), examples=2)
test_mounted_trees = conformance_of_drawn("models", "gvs", trees(mounted=True), examples=2, free_base=True)
