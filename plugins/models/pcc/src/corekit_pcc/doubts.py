"""What is improbable: chambers beyond the disks and the length of a section, cables outside disks, idle options."""

from __future__ import annotations

from collections.abc import Iterator

from corekit_pcc.config import PCCConfig

__all__ = ["doubts_of"]


def doubts_of(config: PCCConfig) -> tuple[str, ...]:
    """Return a sentence on everything that is doubtful, each once."""
    return tuple(dict.fromkeys((*_of_chambers(config), *_of_cables(config))))


def _of_chambers(config: PCCConfig) -> Iterator[str]:
    for distance, *sizes in zip(
        *map(config.spread, ("chamber_radius", "disk_radius", "length")), strict=True
    ):
        if distance > max(sizes):
            yield (
                f"chamber_radius = {distance:g} m is far outside of an arm with disks of {sizes[0]:g} m and sections "
                f"of {sizes[1]:g} m: give it in metres"
            )


def _of_cables(config: PCCConfig) -> Iterator[str]:
    """Yield what runs outside the disks of a section, which guide it, and what a drive does not read."""
    for i, cable in enumerate(config.cables):
        yield from cable.doubts(f"cables[{i}]")
        least = min(config.spread("disk_radius")[: cable.sections])
        if cable.radius > least * (1.0 + 1e-9):
            yield (
                f"cables[{i}] runs {1e3 * cable.radius:.3g} mm beside the backbone, whose disks have a radius of "
                f"{1e3 * least:.3g} mm: right only if something guides it outside"
            )
