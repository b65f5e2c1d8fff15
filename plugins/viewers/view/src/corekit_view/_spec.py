"""Component specifications; importing them is cheap."""

from corekit.registry.spec import ComponentSpec

matplotlib = ComponentSpec(
    role="viewers",
    name="matplotlib",
    api="0.2",
    target="corekit_view.picture:MatplotlibViewer",
    config="corekit_view.config:PictureConfig",
    summary="Key frames of a run with contacts and time plots, as a picture (.png), without a display.",
    provides=frozenset({"charts", "pixels"}),
    modules=("matplotlib", "scipy"),
    citation="Hunter (2007), Matplotlib: a 2D graphics environment, Comput. Sci. Eng. 9(3), 90-95.",
)

viser = ComponentSpec(
    role="viewers",
    name="viser",
    api="0.2",
    target="corekit_view.viser_viewer:ViserViewer",
    config="corekit_view.config:PageConfig",
    summary="Replay of a run as one stand-alone web page (.html) that needs no server; live view of a run; sliders.",
    provides=frozenset({"interactive", "serves"}),
    modules=("viser", "scipy"),
    citation="Yi et al. (2025), Viser: imperative, web-based 3D visualization in Python, arXiv:2507.22885.",
)

video = ComponentSpec(
    role="viewers",
    name="video",
    api="0.2",
    target="corekit_view.video:VideoViewer",
    config="corekit_view.config:VideoConfig",
    summary="Video of a run with contact forces (.mp4) at a constant frame rate, without a display.",
    provides=frozenset({"progress"}),
    modules=("matplotlib", "scipy", "imageio_ffmpeg"),
    citation="Hunter (2007), Matplotlib: a 2D graphics environment, Comput. Sci. Eng. 9(3), 90-95; FFmpeg, ffmpeg.org.",
)
