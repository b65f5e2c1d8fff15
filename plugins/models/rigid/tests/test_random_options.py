"""What the kernel's conformance kit asks of any model, of bodies drawn at random."""

import numpy as np
from hypothesis import strategies as st

from corekit_rigid.config import SIZES
from corekit_testing.conformance import conformance_of_drawn, rounded

LENGTHS = rounded(0.01, 0.2)
POINTS = st.lists(rounded(-0.05, 0.05), min_size=3, max_size=3)


@st.composite
def inertias(draw):
    """Of points of 0.1 kg about the axes, so that no moment exceeds the sum of the others; turned, or not."""
    spread = np.array(draw(st.lists(rounded(0.01, 0.1), min_size=3, max_size=3)))
    moments = 0.1 * (spread @ spread - spread**2)
    if draw(st.booleans()):
        return moments.tolist()
    turn = np.linalg.qr(np.array(draw(st.lists(POINTS, min_size=3, max_size=3))) + np.eye(3))[0]
    xx, xy, xz, _, yy, yz, _, _, zz = ((turn * moments) @ turn.T).ravel().tolist()
    return [xx, yy, zz, xy, xz, yz]


@st.composite
def tetrahedra(draw, centre=0.0):
    """Vertices along x, y, z and at the bottom, moved by `centre` along x."""
    x, y, z, down = (draw(LENGTHS) for _ in range(4))
    return [[centre + x, 0, 0], [centre, y, 0], [centre, 0, z], [centre - down, -down, -down]]


@st.composite
def shapes(draw):
    kind = draw(st.sampled_from(list(SIZES)))
    if kind == "polytope":
        return {"shape": kind, "vertices": draw(tetrahedra())}
    if kind == "polytopes":  # apart: the longest reach 0.2 m to either side
        return {"shape": kind, "pieces": [draw(tetrahedra()), draw(tetrahedra(centre=0.5))]}
    return {"shape": kind, "size": [draw(LENGTHS) for _ in SIZES[kind]]}


@st.composite
def matter(draw):
    kind = draw(st.sampled_from(["density", "mass", "inertia", "all"]))
    if kind == "density":
        return {"density": draw(rounded(100, 5000))}
    given = {"mass": draw(rounded(0.1, 2.0))}
    if kind != "mass":
        given["inertia"] = draw(inertias())
    return given | ({"centre_of_mass": draw(POINTS)} if kind == "all" else {})


DAMPING = st.fixed_dictionaries(
    {}, optional={"linear_damping": rounded(0, 2), "angular_damping": rounded(0, 0.05)}
)
BODIES = st.tuples(shapes(), matter(), DAMPING).map(lambda parts: parts[0] | parts[1] | parts[2])


@st.composite
def tops(draw):
    """A centre of mass that stays in place has no drag."""
    body = draw(BODIES) | {"fixed_centre": True}
    if draw(st.booleans()):
        return body | {"pivot": draw(POINTS)}
    return {name: value for name, value in body.items() if name != "linear_damping"}


test_bodies = conformance_of_drawn("models", "rigid", BODIES, examples=5)
test_tops = conformance_of_drawn("models", "rigid", tops(), examples=4)
test_mounted_bodies = conformance_of_drawn("models", "rigid", BODIES, examples=3, free_base=True)
