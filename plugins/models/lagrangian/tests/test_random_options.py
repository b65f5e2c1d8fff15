"""What the kernel's conformance kit asks of any model, of mechanisms with numbers and expressions drawn at random."""

from hypothesis import strategies as st

from corekit_testing.conformance import conformance_of_drawn, rounded

MASSES, LENGTHS, DAMPING = rounded(0.05, 1), rounded(0.1, 0.5), rounded(0.001, 0.1)
SHAPES = ("sine", "cosine", "bump", "root", "ratio", "power", "angle", "step", "logarithm")


def mechanism(name, numbers, optional=None):
    parameters = st.fixed_dictionaries(numbers, optional=optional or {})
    return parameters.map(lambda given: {"equations": f"mechanisms:{name}", "parameters": given})


def lists(of, count):
    return st.lists(of, min_size=count, max_size=count)


def surfaces():
    """Coefficients are not 0: what nothing depends on is no parameter."""
    numbers = {"block": MASSES, "mass": MASSES, "damping": DAMPING, "stiffness": rounded(0.1, 20)}
    return mechanism("surface", numbers, dict.fromkeys(SHAPES, lists(rounded(0.05, 0.5), 3)))


def arms():
    """On a base that moves: where it stands its foot moves nothing."""
    numbers = {"lengths": lists(LENGTHS, 2), "masses": lists(MASSES, 2), "damping": DAMPING}
    return mechanism("arm", numbers | {"foot": MASSES, "stiffness": rounded(0.1, 5)})


def pendulums():
    return st.integers(1, 4).flatmap(
        lambda n: mechanism(
            "pendulum", {"lengths": lists(LENGTHS, n), "masses": lists(MASSES, n), "damping": DAMPING}
        )
    )


def gimbals():
    inertia = lists(rounded(0.01, 0.015), 3)
    return mechanism("gimbal", {"mass": MASSES, "inertia": inertia, "centre": lists(rounded(0.01, 0.1), 3)})


MECHANISMS = surfaces() | pendulums() | gimbals()

test_mechanisms = conformance_of_drawn("models", "lagrangian", MECHANISMS, examples=2)
test_mounted_mechanisms = conformance_of_drawn(
    "models", "lagrangian", surfaces() | arms(), examples=2, free_base=True
)
