"""What the kernel's conformance kit asks of any model, of vine robots drawn at random."""

import numpy as np
from hypothesis import strategies as st

from corekit_testing.conformance import conformance_of_drawn, rounded
from corekit_vine.config import VineConfig
from corekit_vine.inertia import compute_slender


@st.composite
def bending(draw, spacing):
    """A law, of the tube or of its pins; pins do not wrinkle.

    At the onset of wrinkles the moment has a kink in its slope, which differences must not step over: where the robot
    is not bent it is ten times as far as they reach.
    """
    damping = draw(st.sampled_from(["bending_damping", "joint_damping"]))
    out = {damping: draw(rounded(0, 1e-3))}
    if draw(st.booleans()):
        stiffness, radius, onset = (
            draw(rounded(0.01, 0.1)),
            draw(rounded(0.005, 0.02)),
            draw(rounded(0.01, 2)),
        )
        out |= {"moment_law": "wrinkling", "bending_stiffness": stiffness, "diameter": 2 * radius}
        return out | {"pressure": 2 * stiffness * onset / spacing / (np.pi * radius**3)}
    stiffness = draw(st.sampled_from(["bending_stiffness", "joint_stiffness"]))
    return out | {stiffness: draw(rounded(0, 0.5))}


@st.composite
def growth(draw):
    """Rates, of the tip or of each link, or a pressure; irreversible only what a load can stop."""
    by_pressure = draw(st.booleans())
    out = {"growth": "pressure" if by_pressure else "rate"}
    if by_pressure or draw(st.booleans()):
        out["extensibility"] = draw(rounded(1e-6, 1e-4))
    if by_pressure:
        out["yield_pressure"] = draw(rounded(0, 1e4))
    if not by_pressure:
        out["growth_input"] = draw(st.sampled_from(["total", "links"]))
    if draw(st.booleans()):
        out["growth_force"] = draw(rounded(1, 100))
    if out.keys() & {"extensibility", "growth_force"} and draw(st.booleans()):
        return out | {"irreversible": True}
    return out | {"equations": draw(st.sampled_from(["regular", "published"]))}


@st.composite
def robots(draw, mounted=False):
    links = draw(st.integers(1, 4))
    curvature = rounded(-3, 3)
    ends = st.lists(st.integers(0, links - 1), min_size=2, max_size=2).map(sorted)
    more = {
        "heading": rounded(-3, 3),
        "diameter": rounded(0.01, 0.04),
        "wall_thickness": rounded(1e-4, 1e-3),
        "wall_density": rounded(500, 2000),
        "wall_layers": rounded(1, 2),
        "gas_density": rounded(0, 5),
        "body_mass": rounded(1e-3, 0.1),
        "body_inertia": rounded(1e-6, 1e-3),
        "natural_curvature": curvature | st.lists(curvature, min_size=links, max_size=links),
        "actuators": st.lists(ends, max_size=2),
        "shortest": rounded(0, 0.01),
        "collision": st.sampled_from(["links", "points", "none"]),
    }
    if mounted:
        more |= {"base_mass": rounded(1e-3, 0.1), "base_inertia": rounded(1e-6, 1e-3)}
    length, form = draw(rounded(0.2, 1.0)), draw(st.sampled_from(["tube", "everting", "telescope"]))
    out = {"bodies": 2 * links, "length": length, "form": form} | draw(growth())
    out |= draw(st.fixed_dictionaries({}, optional=more)) | draw(bending(length / links))
    if out["growth"] == "pressure":
        out.pop("pressure", None)  # the input says it
    if form == "everting":
        out |= {"longest": length * draw(rounded(1, 3)), "growth_input": "total", "shortest": 0.0}
    has_gas, has_both = out.get("gas_density", 0.0) > 0.0, {"body_mass", "body_inertia"} <= out.keys()
    unread = {"wall_density"} if "body_mass" in out and not has_gas else set()
    if has_both and not mounted and form == "telescope":
        unread |= {"wall_density", "wall_thickness", "wall_layers", "gas_density"}
    elif has_both and not mounted and not has_gas:
        unread |= {"wall_thickness"}
    out = {name: value for name, value in out.items() if name not in unread}
    if form != "telescope" and "body_inertia" in out:
        least = compute_slender(VineConfig(**out | {"body_inertia": 1.0}))[1]
        out["body_inertia"] = least * draw(rounded(1, 100))
    return out


test_robots = conformance_of_drawn("models", "vine", robots(), examples=2)
test_mounted_robots = conformance_of_drawn("models", "vine", robots(mounted=True), examples=2, free_base=True)
