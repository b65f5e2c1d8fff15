"""Options that have no meaning for a robot whose base stands.

Mass and inertia of the base move nothing then, nor do moments of inertia along the tube, which the thickness of the
wall sets even where mass and inertia of the bodies are given. What is left of the wall is the share of the gas in the
matter that flows, of which a telescope has none.
"""

from __future__ import annotations

from corekit.errors import ConfigError, Mistake
from corekit.roles.options import refuse_given
from corekit_vine.config import VineConfig

__all__ = ["check_standing_base"]


def check_standing_base(config: VineConfig, path: str) -> None:
    """Raise ConfigError for options that have no meaning on a base that stands.

    Args:
        path: of the options, for messages.
    """
    mistakes = refuse_given(
        config,
        ("base_mass", "base_inertia"),
        "must be left out, or the base given a motion or a mount: it stands",
    )
    if config.body_mass is not None and config.body_inertia is not None:
        names = ("wall_thickness",) if not config.gas_density else ()
        if config.form == "telescope":
            names = ("wall_thickness", "wall_layers", "gas_density")
            names += ("wall_density",) if config.gas_density else ()
        mistakes += refuse_given(config, names, "must be left out: `body_mass` and `body_inertia` say it")
    if mistakes:
        placed = [Mistake(f"{path}.{each.path}", each.found, each.allowed) for each in mistakes]
        raise ConfigError(placed, "the vine robot")
