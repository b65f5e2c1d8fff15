"""Contact detectors with one small mistake each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .test_wrong_detectors import measured

__all__ = ["DETECTORS"]


def finds(change: Any) -> dict[str, Any]:
    """A detector whose new contacts go through `change(out, new)`."""
    return {"compute_contacts": measured(lambda self, out, new, poses: change(out, new))}


def assign(name: str, value: Any) -> dict[str, Any]:
    def change(out: Any, new: slice) -> None:
        getattr(out, name)[new] = value(getattr(out, name)[new])

    return finds(change)


def misses_one(right, self, poses, margin, out):
    right(self, poses, margin, out)
    out.count = max(out.count - 1, 0)


def exchanged(right, self, poses, margin, out):
    right(self, poses, margin, out)
    out.pairs[: out.count] = out.pairs[: out.count, ::-1].copy()


def never_clears(right, self, poses, margin, out):
    before, kept = out.count, out.pairs[: out.count].copy()
    right(self, poses, margin, out)
    now = out.pairs[: out.count].copy()
    out.reserve(before + len(now))
    out.count = before + len(now)
    out.pairs[: out.count] = np.concatenate([kept, now])


def moves_a_shape(right, self, candidates, poses, margin, out):
    right(self, candidates, poses, margin, out)
    poses.position[:] += 1e-12


def drops_the_deep(out, new):
    out.gap[new] = np.maximum(out.gap[new], -1e-3)


DETECTORS = {
    "gaps with the other sign": (assign("gap", lambda gap: -gap), "gap-analytic"),
    "gaps of centres": (assign("gap", lambda gap: gap + 0.05), "gap-analytic"),
    "gaps of half the digits": (assign("gap", lambda gap: gap.astype(np.float32)), "gap-analytic"),
    "gaps cut off inside": (finds(drops_the_deep), "gap-analytic"),
    "normals of half a length": (assign("normal", lambda normal: 0.5 * normal), "normal-unit"),
    "normals with the other sign": (assign("normal", lambda normal: -normal), "normal-into-first"),
    "points on the second surface": (
        finds(
            lambda out, new: np.add(
                out.point[new], -0.5 * out.gap[new][:, None] * out.normal[new] - 0.01, out=out.point[new]
            )
        ),
        "point-between",
    ),
    "points at the origin": (assign("point", lambda point: 0.0 * point), "point-between"),
    "material points in world axes": (
        assign("local_point", lambda local: local[..., ::-1]),
        "carriers-at-point",
    ),
    "material points without offset": (assign("local_point", lambda local: 0.0 * local), "carriers-at-point"),
    "weights with the other sign": (assign("weight", lambda weight: -weight), "shapes-named"),
    "weights twice": (assign("weight", lambda weight: 2.0 * weight), "gap-rate"),
    "frames one farther": (
        assign("frame", lambda frame: np.where(frame > 0, frame - 1, frame)),
        "shapes-named",
    ),
    "all ids 0": (assign("id", lambda index: 0 * index), "ids-unique-and-persistent"),
    "ids by running number": (
        finds(lambda out, new: np.copyto(out.id[new], np.arange(out.count)[new])),
        "ids-of-features",
    ),
    "ids by gap": (
        finds(lambda out, new: np.copyto(out.id[new], out.gap[new].view(np.int64))),
        "ids-unique-and-persistent",
    ),
    "shapes exchanged": (assign("shape", lambda shape: shape[:, ::-1]), "shapes-named"),
    "a pair is missed": ({"find_candidates": misses_one}, "candidates-complete"),
    "pairs exchanged": ({"find_candidates": exchanged}, "candidates-complete"),
    "candidates of the last step stay": ({"find_candidates": never_clears}, "buffers-overwritten"),
    "moves a shape": ({"compute_contacts": moves_a_shape}, "inputs-unchanged"),
    "NaN for a normal deep inside": (
        finds(lambda out, new: np.copyto(out.normal[new], np.nan, where=(out.gap[new] < -0.1)[:, None])),
        "deep-finite",
    ),
}
