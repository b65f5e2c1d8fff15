"""What the kernel's conformance kit asks of any model, of arms drawn at random."""

from hypothesis import strategies as st

from corekit_testing.conformance import conformance_of_drawn, rounded

LENGTHS = rounded(0.08, 0.2)
ANGLES = rounded(-3.0, 3.0)


def each(sections, numbers):
    """One number for all sections, or one a section."""
    return numbers | st.lists(numbers, min_size=sections, max_size=sections)


def matter(sections):
    """Raw numbers, or a material whose sections have room for five chambers and a hole."""
    raw = {"mass": rounded(0.1, 1.0), "stiffness": rounded(50, 400), "damping": rounded(0, 50)}
    material = {
        "young": rounded(1e5, 1e6),
        "density": rounded(500, 2000),
        "viscosity": rounded(0, 300),
        "outer_radius": rounded(0.02, 0.03),
        "inner_radius": rounded(0, 0.006),
        "chamber_area": st.just(0) | rounded(1e-6, 2e-5),
    }
    raw, material = ({name: each(sections, of) for name, of in part.items()} for part in (raw, material))
    return st.fixed_dictionaries(raw) | st.fixed_dictionaries(
        {"material": st.fixed_dictionaries(material), "chamber_radius": each(sections, rounded(0.01, 0.012))}
    )


@st.composite
def cables(draw, sections):
    cable = {"name": "a", "radius": draw(rounded(0, 0.02)), "angle": draw(ANGLES)}
    if draw(st.booleans()):
        cable["sections"] = draw(st.integers(1, sections))
    if draw(st.booleans()):
        cable["friction"] = draw(rounded(0, 0.5))
    if draw(st.booleans()):
        cable |= {"drive": "length", "stiffness": draw(rounded(100, 1000))}
    return cable


@st.composite
def arms(draw):
    sections = draw(st.integers(1, 3))
    shape = {
        "length": each(sections, LENGTHS),
        "chambers": each(sections, st.integers(3, 5)),
        "chamber_angle": each(sections, ANGLES),
        "plate_thickness": each(sections, rounded(0, 0.02)),
        "disks": each(sections, st.integers(0, 3)),
        "disk_radius": each(sections, rounded(0.01, 0.05)),
        "disk_half_height": each(sections, rounded(0.001, 0.005)),
        "disk_inertia": each(sections, rounded(0, 1e-4)),
        "base_disk": st.booleans(),
        "self_contact": st.booleans(),
        "mass_nodes": st.integers(1, 6),
        "coriolis": st.booleans(),
        "cables": st.lists(cables(sections), max_size=1),
    }
    return {"sections": sections} | draw(matter(sections)) | draw(st.fixed_dictionaries({}, optional=shape))


test_arms = conformance_of_drawn("models", "pcc", arms(), examples=2)
test_mounted_arms = conformance_of_drawn("models", "pcc", arms(), examples=2, free_base=True)
