# SPDX-License-Identifier: BSD-3-Clause
"""Latches in the faces of modules: when one catches the module before it."""

from typing import NamedTuple

from iap_description.math.kernels import Vec, dot, formula, scale, sub


class CatchLimits(NamedTuple):
    """Limits below which a latch catches.

    Attributes:
        gap: between the faces [m].
        offset: across their axis, along every axis [m].
        angle: about every axis [rad].
    """

    gap: float
    offset: float
    angle: float


@formula
def gap_and_offset(offset_L: Vec, normal_L: Vec) -> tuple[float, Vec]:
    """Gap along a face's normal [m] and what is across it [m], of a module's offset from where it is joined."""
    gap = dot(offset_L, normal_L)
    return gap, sub(offset_L, scale(gap, normal_L))


@formula
def is_aligned(offset: Vec, angles: Vec, limits: CatchLimits) -> bool:
    """Tell if an offset across the axis [m] and a rotation vector [rad] are within limits."""
    return (
        abs(offset[0]) < limits.offset
        and abs(offset[1]) < limits.offset
        and abs(offset[2]) < limits.offset
        and abs(angles[0]) < limits.angle
        and abs(angles[1]) < limits.angle
        and abs(angles[2]) < limits.angle
    )


@formula
def catches(gap: float, offset: Vec, angles: Vec, limits: CatchLimits) -> bool:
    """Tell if a latch catches a module at a gap [m], an offset across its axis [m] and a rotation vector [rad]."""
    return gap < limits.gap and is_aligned(offset, angles, limits)
