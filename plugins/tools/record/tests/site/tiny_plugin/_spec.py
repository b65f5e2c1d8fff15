"""Light descriptions of the tiny components."""

from corekit.registry.spec import ComponentSpec

ball = ComponentSpec(
    role="models", name="tiny-ball", api="0.2", target="tiny_plugin.ball:Ball",
    config="tiny_plugin.ball:BallConfig", initial="tiny_plugin.ball:BallInitial",
    summary="A point mass with a spherical surface.",
    provides=frozenset({"point-jacobian", "energy", "force-terms"}),
)  # fmt: skip
floor = ComponentSpec(
    role="contact_detectors", name="tiny-floor", api="0.2", target="tiny_plugin.contact:Floor",
    config="tiny_plugin.contact:NoOptions", summary="Spheres against half-spaces.",
)  # fmt: skip
sweeps = ComponentSpec(
    role="contact_solvers", name="tiny-sweeps", api="0.2", target="tiny_plugin.contact:Sweeps",
    config="tiny_plugin.contact:NoOptions", summary="Sweeps over contacts.", provides=frozenset({"impulses"}),
)  # fmt: skip
euler = ComponentSpec(
    role="integrators", name="tiny-euler", api="0.2", target="tiny_plugin.stepping:Euler",
    config="tiny_plugin.stepping:EulerConfig", summary="Semi-implicit Euler.",
    provides=frozenset({"coupled", "impulses"}),
)  # fmt: skip
text = ComponentSpec(
    role="viewers", name="tiny-text", api="0.2", target="tiny_plugin.viewer:TextViewer",
    config="tiny_plugin.contact:NoOptions", summary="A replay in words.",
)  # fmt: skip
