"""Options of the viewers."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["PageConfig", "PictureConfig", "VideoConfig"]


@frozen(kw_only=True)
class PictureConfig:
    """Options of the picture: instants, view and size."""

    panels: int = option(6, "count of key frames, including the first and the last frame", low=1, high=24)
    times: tuple[float, ...] = option(
        (), "instants of the panels (nearest frames), instead of automatic ones", unit="s"
    )
    azimuth: float | None = option(
        None,
        "direction to the camera about z, from x; None: direction with the best view of the motion",
        unit="rad",
    )
    elevation: float | None = option(
        None,
        "angle of the camera above the horizontal; None: 0.35, and face on to a planar world",
        unit="rad",
        low=-1.5,
        high=1.5,
    )
    width: float = option(
        0.183, "width on paper; 0.183 m is two columns of a journal", unit="m", low=0.05, high=1.0
    )
    dpi: int = option(300, "pixels per inch", low=40, high=1200)
    force_scale: float | None = option(
        None,
        "length of a force arrow; None: common forces span a tenth of the scene, the largest a fifth",
        unit="m/N",
        above=0,
    )
    plots: bool = option(True, "whether to add plots of tip, contacts and contact force over time")


@frozen(kw_only=True)
class PageConfig:
    """Options of the HTML replay."""

    frames: int = option(200, "largest count of frames; a longer replay is thinned evenly", low=1, high=5000)
    speed: float = option(1.0, "seconds of the run shown in one second of the replay", above=0)
    azimuth: float | None = option(
        None,
        "direction to the first camera about z, from x; None: direction with the best view of the motion",
        unit="rad",
    )
    elevation: float | None = option(
        None,
        "angle of the first camera above the horizontal; None: 0.35, and face on to a planar world",
        unit="rad",
        low=-1.5,
        high=1.5,
    )
    force_scale: float | None = option(
        None,
        "length of a force arrow; None: common forces span a tenth of the scene, the largest a fifth",
        unit="m/N",
        above=0,
    )
    megabytes: float = option(
        3.0, "target size [MB]: outlines and then frames are thinned to reach it", low=1.0, high=200.0
    )


@frozen(kw_only=True)
class VideoConfig:
    """Options of the video."""

    fps: int = option(30, "constant count of pictures per second", low=1, high=240)
    speed: float = option(1.0, "seconds of the run shown in one second of the video", above=0)
    width: int = option(1280, "width in pixels, rounded up to even", low=160, high=7680)
    height: int = option(720, "height in pixels, rounded up to even", low=160, high=4320)
    azimuth: float | None = option(
        None,
        "direction to the camera about z, from x; None: direction with the best view of the motion",
        unit="rad",
    )
    elevation: float | None = option(
        None,
        "angle of the camera above the horizontal; None: 0.35, and face on to a planar world",
        unit="rad",
        low=-1.5,
        high=1.5,
    )
    force_scale: float | None = option(
        None,
        "length of a force arrow; None: common forces span a tenth of the scene, the largest a fifth",
        unit="m/N",
        above=0,
    )
