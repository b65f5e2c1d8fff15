"""Motions as Taylor series in time, and rigid-body algebra written with 4×4 and 6×6 matrices.

A motion g(t) = g₀ + g₁·t + g₂·t² + O(t³) is the block Toeplitz matrix

    T(g) = [[g₀, g₁, g₂], [0, g₀, g₁], [0, 0, g₀]]                                               (1)

Products and exponentials of such matrices are those of the series, so velocities and accelerations of a
product of exponentials need no tangent operator, no rotation formula and no small-angle branch.
Twists are [angular; linear]. Source: the algebra of truncated polynomials; Higham, Functions of Matrices, §3.2.
"""

from __future__ import annotations

import numpy as np

ORDER = 3


def skew(a):
    """ã with ã·b = a × b."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def hat(twist):
    """The 4×4 matrix of a twist [k; l]."""
    out = np.zeros((4, 4))
    out[:3, :3] = skew(twist[:3])
    out[:3, 3] = twist[3:]
    return out


def vee(matrix):
    """The twist of a 4×4 matrix of se(3)."""
    r = matrix[:3, :3]
    return np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], *(2.0 * matrix[:3, 3])]) / 2.0


def adjoint(g):
    """Ad_g, which takes body twists to the frame that g is given in."""
    rotation, place = g[:3, :3], g[:3, 3]
    return np.block([[rotation, np.zeros((3, 3))], [skew(place) @ rotation, rotation]])


def bracket(twist):
    """ad_x with [x, y] = ad_x·y."""
    k, v = skew(twist[:3]), skew(twist[3:])
    return np.block([[k, np.zeros((3, 3))], [v, k]])


def inverse(g):
    """g⁻¹ of a pose."""
    out = np.eye(4)
    out[:3, :3] = g[:3, :3].T
    out[:3, 3] = -g[:3, :3].T @ g[:3, 3]
    return out


def pose(place=(0.0, 0.0, 0.0), rotation=None):
    """A 4×4 pose."""
    out = np.eye(4)
    out[:3, 3] = place
    if rotation is not None:
        out[:3, :3] = rotation
    return out


class Series:
    """A matrix-valued motion to second order in t: coefficients (3, 4, 4)."""

    def __init__(self, coefficients):
        self.at = np.asarray(coefficients, dtype=float)

    @classmethod
    def constant(cls, matrix):
        return cls([matrix, np.zeros((4, 4)), np.zeros((4, 4))])

    def __matmul__(self, other):
        a, b = self.at, other.at
        return Series([sum(a[i] @ b[k - i] for i in range(k + 1)) for k in range(ORDER)])

    def derivative(self):
        """ġ; its last coefficient is unknown and left zero."""
        return Series([self.at[1], 2.0 * self.at[2], np.zeros((4, 4))])

    def inverse(self):
        """g⁻¹: (g⁻¹)ₖ = −g₀⁻¹·Σ gᵢ·(g⁻¹)ₖ₋ᵢ."""
        first = inverse(self.at[0])
        out = [first]
        for k in range(1, ORDER):
            out.append(-first @ sum(self.at[i] @ out[k - i] for i in range(1, k + 1)))
        return Series(out)

    def body_twist(self):
        """η = (g⁻¹ġ)ᵛ and its rate η̇ at t = 0."""
        twist = self.inverse() @ self.derivative()
        return vee(twist.at[0]), vee(twist.at[1])

    def spatial_twist(self):
        """(ġg⁻¹)ᵛ and its rate at t = 0."""
        twist = self.derivative() @ self.inverse()
        return vee(twist.at[0]), vee(twist.at[1])


def expm(matrices):
    """Exponentials of a stack of matrices, (..., n, n): Taylor series to rounding after scaling, then squaring.

    The series serves stacks many times faster than a general routine; the tests compare it with one.
    """
    halvings = max(0, int(np.ceil(np.log2(np.abs(matrices).sum(axis=-1).max(initial=1e-3)))) + 2)
    scaled = matrices / 2.0**halvings
    out = term = np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape)
    for k in range(1, 13):
        term = term @ scaled / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out


def exponential(coefficients):
    """exp of the twist series Ω₀ + Ω₁t + Ω₂t² through the matrix (1), coefficients (3, 6)."""
    blocks = [hat(c) for c in coefficients]
    zero = np.zeros((4, 4))
    whole = expm(
        np.block([[blocks[0], blocks[1], blocks[2]], [zero, blocks[0], blocks[1]], [zero, zero, blocks[0]]])
    )
    return Series([whole[:4, 4 * k : 4 * k + 4] for k in range(ORDER)])


def exponential_columns(twist, columns):
    """(G⁻¹·∂G)ᵛ for G = exp(Ω) and Ω changing along each column, (6, n); and G."""
    blocks = np.zeros((columns.shape[1] + 1, 8, 8))
    blocks[:, :4, :4] = blocks[:, 4:, 4:] = hat(twist)
    for block, column in zip(blocks, columns.T, strict=False):
        block[:4, 4:] = hat(column)
    whole = expm(blocks)
    back = inverse(whole[-1, :4, :4])
    return whole[-1, :4, :4], np.array([vee(back @ each[:4, 4:]) for each in whole[:-1]]).reshape(-1, 6).T


def commutator_series(a, b):
    """Series of [a(t), b(t)] for twist series of shape (3, 6)."""
    return np.array([sum(bracket(a[i]) @ b[k - i] for i in range(k + 1)) for k in range(ORDER)])
