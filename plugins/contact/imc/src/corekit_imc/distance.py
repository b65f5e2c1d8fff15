"""Derivatives of the distance between two edges, one formula for all of its classes.

With material points a, b of the first edge and c, d of the second, w = (1 − s)·a + s·b − (1 − t)·c − t·d, D =
|w|, n = w/D and s, t at the closest points, W = [(1 − s)·I, s·I, −(1 − t)·I, −t·I] (3 × 12):

    ∇D = Wᵀ·n                                                                                       (1)
    ∇∇(½·D²) = WᵀW − P·(UᵀU)⁻¹·Pᵀ,     ∇∇D = (∇∇(½·D²) − ∇D·∇Dᵀ)/D                                    (2)

U has a column for each free parameter, 0 < s < 1: b − a, 0 < t < 1: c − d; P = WᵀU + Q with columns [−w; w;
0; 0] for s and [0; 0; w; −w] for t. No free parameter is point–point, one point–edge, both edge–edge. D is
once continuously differentiable across the classes; its Hessian jumps. UᵀU of parallel edges is singular; its
diagonal has the same small addition as in `segments`.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_imc.segments import PARALLEL

__all__ = ["add_distance_hessian", "is_edge_pair"]


@compiled
def is_edge_pair(weight: Array, frame: Array, position: Array, normal: Array, gap: float) -> bool:
    """Whether material points (4, 3) with weights (4,) are the ends of two edges, and the gap is their distance (1)."""
    if frame[0] < 0 or frame[1] < 0 or frame[2] < 0 or frame[3] < 0:
        return False
    if abs(weight[0] + weight[1] - 1.0) > 1e-9 or abs(weight[2] + weight[3] + 1.0) > 1e-9:
        return False
    projection = square = 0.0
    for axis in range(3):
        w = (
            weight[0] * position[0, axis]
            + weight[1] * position[1, axis]
            + weight[2] * position[2, axis]
            + weight[3] * position[3, axis]
        )
        projection += w * normal[axis]
        square += w * w
    # w is parallel to the normal, and the radii are the difference to the gap
    return projection > 0.0 and projection >= gap and square - projection * projection <= 1e-12 * square


@compiled
def add_distance_hessian(weight: Array, position: Array, scale: float, columns: Array, out: Array) -> None:
    """out += scale·∇∇D of (2), shape (12, 12).

    Args:
        weight: (1 − s, s, −(1 − t), −t), shape (4,).
        position: of the material points, shape (4, 3) [m].
        scale: factor, −k·|φ′| for contact [N].
        columns: workspace, shape (2, 12).
    """
    s, t = weight[1], -weight[3]
    free_s, free_t = 0.0 < s < 1.0, 0.0 < t < 1.0
    w0 = w1 = w2 = 0.0
    for i in range(4):
        w0 += weight[i] * position[i, 0]
        w1 += weight[i] * position[i, 1]
        w2 += weight[i] * position[i, 2]
    w = (w0, w1, w2)
    distance = math.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
    if distance == 0.0:
        return
    # P, and M = UᵀU; signs: column s is b − a, column t is c − d
    ss = tt = st = 0.0
    for axis in range(3):
        u = position[1, axis] - position[0, axis]
        v = position[2, axis] - position[3, axis]
        ss += u * u
        tt += v * v
        st += u * v
        for i in range(4):
            columns[0, 3 * i + axis] = weight[i] * u
            columns[1, 3 * i + axis] = weight[i] * v
        columns[0, axis] -= w[axis]
        columns[0, 3 + axis] += w[axis]
        columns[1, 6 + axis] += w[axis]
        columns[1, 9 + axis] -= w[axis]
    i00 = i01 = i11 = 0.0
    if free_s and free_t:
        m00, m11 = ss * (1.0 + PARALLEL), tt * (1.0 + PARALLEL)
        det = m00 * m11 - st * st
        i00, i01, i11 = m11 / det, -st / det, m00 / det
    elif free_s:
        i00 = 1.0 / ss
    elif free_t:
        i11 = 1.0 / tt
    factor = scale / distance
    for i in range(12):
        wi = weight[i // 3]
        ni = w[i % 3] / distance
        for j in range(12):
            value = 0.0
            if i % 3 == j % 3:
                value = wi * weight[j // 3]
            value -= wi * ni * weight[j // 3] * w[j % 3] / distance
            value -= columns[0, i] * (i00 * columns[0, j] + i01 * columns[1, j])
            value -= columns[1, i] * (i01 * columns[0, j] + i11 * columns[1, j])
            out[i, j] += factor * value
