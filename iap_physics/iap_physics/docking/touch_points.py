# SPDX-License-Identifier: BSD-3-Clause
"""Places at which a probe can touch a socket: on the rim, on the wall of the bore, on the flange.

Points are `E`, the probe's end, and `M`, the middle of the socket's mouth; `u` is the socket's axis out of it, and
`back` the probe's from its end backwards, in world axes.
"""

from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    add,
    cross,
    dot,
    formula,
    norm,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)
from iap_description.vehicles.latch import place_of
from iap_physics.docking.mechanism import Mechanism

TINY = 1e-9  # [m]
NARROW = 1e-6  # play below which rounding would decide whether a circle may touch [m]


class Touch(NamedTuple):
    """A place that may touch: where [m], the normal that pushes the probe away, and the overlap [m], if positive."""

    place: Vec
    normal: Vec
    overlap: float


@formula
def frames(x_p: Array, x_s: Array, mechanism: Mechanism) -> tuple[Vec, Vec, Vec, Vec]:
    """The probe's end, the mouth, the socket's axis out of it, and the probe's from its end backwards."""
    E, M = place_of(x_p, mechanism.probe.position), place_of(x_s, mechanism.socket.position)
    u = rotate(quat_at(x_s, 3), vec_at(mechanism.socket.axis, 0))
    back = scale(-1.0, rotate(quat_at(x_p, 3), vec_at(mechanism.probe.axis, 0)))
    return E, M, u, back


class Rim(NamedTuple):
    """The mouth's inner edge, by how far it is from the probe's end at an angle phi.

    Attributes:
        a: across the socket's axis, where phi is 0.
        b: where phi is a quarter.
        along: (c_0, c_1, c_2) [m]: c_0 + c_1 cos(phi) + c_2 sin(phi) is the distance along the probe's axis.
        square: the same [m^2] of the squared distance.
    """

    a: Vec
    b: Vec
    along: Vec
    square: Vec


@formula
def rim_of(E: Vec, M: Vec, u: Vec, back: Vec, mechanism: Mechanism) -> Rim:
    """The rim of a socket."""
    a, r = across(u), mechanism.bore
    b, g = cross(u, a), sub(M, E)
    along = (dot(g, back), r * dot(a, back), r * dot(b, back))
    return Rim(a, b, along, (dot(g, g) + r * r, 2.0 * r * dot(g, a), 2.0 * r * dot(g, b)))


@formula
def depth_at(rim: Rim, cosine: float, sine: float, mechanism: Mechanism) -> float:
    """Depth of the rim in the probe at an angle [m], negative outside of it."""
    s = rim.along[0] + rim.along[1] * cosine + rim.along[2] * sine
    if s < 0.0 or s > mechanism.along[-1]:
        return -1.0
    square = rim.square[0] + rim.square[1] * cosine + rim.square[2] * sine
    depth, _ = _depth_in(s, np.sqrt(max(0.0, square - s * s)), mechanism)
    return min(s, depth)


@formula
def at_rim(E: Vec, M: Vec, rim: Rim, angle: float, back: Vec, mechanism: Mechanism) -> Touch:
    """The place of the rim at an angle."""
    side = add(scale(np.cos(angle), rim.a), scale(np.sin(angle), rim.b))
    return _in_probe(add(M, scale(mechanism.bore, side)), E, back, mechanism)


@formula
def on_face(E: Vec, M: Vec, side: Vec, back: Vec, off: float, mechanism: Mechanism) -> Touch:
    """The place of the mouth's face that is closest to the probe's axis, which misses the bore."""
    place = add(M, scale(min(off, mechanism.rim), side))
    return _in_probe(place, E, back, mechanism)


@formula
def _in_probe(place: Vec, E: Vec, back: Vec, mechanism: Mechanism) -> Touch:
    """A place that may be in the probe, whose end is E; it leaves through the nearest face of a convex piece."""
    g = sub(place, E)
    s = dot(g, back)
    if s < 0.0 or s > mechanism.along[-1]:
        return Touch(place, back, -1.0)
    aside = sub(g, scale(s, back))
    away = norm(aside)
    overlap, slope = _depth_in(s, away, mechanism)
    if s < overlap:
        return Touch(place, back, s)
    outwards = add(scale(1.0 / max(away, TINY), aside), scale(-slope, back))
    return Touch(place, scale(-1.0 / np.sqrt(1.0 + slope * slope), outwards), overlap)


@formula
def _depth_in(s: float, away: float, mechanism: Mechanism) -> tuple[float, float]:
    """Depth [m] of a point below the profile, at distances along and from the axis [m], and slope of the face there.

    The point is in the convex run of segments around s: the nearest of its faces counts.
    """
    k = _segment(s, mechanism)
    depth, slope = _depth_below(k, s, away, mechanism)
    for way in (-1, 1):
        last, j = _slope_of(k, mechanism), k + way
        while 0 <= j < len(mechanism.along) - 1:
            next_slope = _slope_of(j, mechanism)
            if (next_slope - last) * way >= 0.0:
                break  # a corner that goes in
            other, _ = _depth_below(j, s, away, mechanism)
            if other < depth:
                depth, slope = other, next_slope
            last, j = next_slope, j + way
    return depth, slope


@formula
def _depth_below(k: int, s: float, away: float, mechanism: Mechanism) -> tuple[float, float]:
    """Depth [m] of a point below the line through a segment of the profile, and its slope."""
    slope = _slope_of(k, mechanism)
    radius = mechanism.radii[k] + slope * (s - mechanism.along[k])
    return (radius - away) / np.sqrt(1.0 + slope * slope), slope


@formula
def radius_at(s: float, mechanism: Mechanism) -> float:
    """Radius of the probe at a distance from its end [m], and of its widest place beyond its length."""
    k = _segment(s, mechanism)
    depth, slope = _depth_below(k, min(s, mechanism.along[-1]), 0.0, mechanism)
    return depth * np.sqrt(1.0 + slope * slope)


@formula
def _segment(s: float, mechanism: Mechanism) -> int:
    """Number of the profile's segment at a distance from its end [m]."""
    k = 0
    while k < len(mechanism.along) - 2 and s > mechanism.along[k + 1]:
        k += 1
    return k


@formula
def _slope_of(k: int, mechanism: Mechanism) -> float:
    """Slope of a segment of the profile."""
    along, radii = mechanism.along, mechanism.radii
    return float((radii[k + 1] - radii[k]) / (along[k + 1] - along[k]))


@formula
def is_in_bore(d: Vec, u: Vec, back: Vec, k: int, mechanism: Mechanism) -> bool:
    """Tell if a circle of the probe's profile may touch the wall of the bore: all that `in_bore` finds is among these.

    No place of a circle is further from the bore's axis than its center is, and its radius besides.
    """
    center = add(d, scale(mechanism.along[k], back))
    x = dot(center, u)
    room = mechanism.bore - mechanism.radii[k] - TINY
    return x <= 0.0 and (room < NARROW or dot(center, center) - x * x > room * room)


@formula
def in_bore(M: Vec, d: Vec, u: Vec, back: Vec, k: int, mechanism: Mechanism) -> Touch:
    """A circle of the probe's profile on the wall of the bore, where its center is off the bore's axis."""
    center = add(d, scale(mechanism.along[k], back))
    out = _unit_aside(center, u)
    tilted = _unit_aside(out, back)
    place = add(center, scale(mechanism.radii[k], tilted))
    x = dot(place, u)
    if x > 0.0 or x < -mechanism.depth or dot(center, u) > 0.0:
        return Touch(M, u, -1.0)
    aside = sub(place, scale(x, u))
    reach = norm(aside)
    n = scale(-1.0 / max(reach, TINY), aside)
    is_inside = norm(sub(center, scale(dot(center, u), u))) <= mechanism.bore
    return Touch(add(M, place), n, reach - mechanism.bore if is_inside else -1.0)


@formula
def at_flange(E: Vec, M: Vec, side: Vec, back: Vec, mechanism: Mechanism) -> Touch:
    """A place of the rim on the flange."""
    place = add(M, scale(0.5 * (mechanism.bore + mechanism.rim), side))
    g = sub(place, E)
    s = dot(g, back)
    away = norm(sub(g, scale(s, back)))
    is_under = mechanism.radii[-1] < away < mechanism.flange
    return Touch(place, back, s - mechanism.along[-1] if is_under else -1.0)


@formula
def across(u: Vec) -> Vec:
    """A unit vector across a unit vector."""
    v = cross(u, (0.0, 0.0, 1.0)) if abs(u[2]) < 0.9 else cross(u, (1.0, 0.0, 0.0))
    return scale(1.0 / norm(v), v)


@formula
def _unit_aside(v: Vec, u: Vec) -> Vec:
    """The unit vector of v across a unit vector u; any across it where there is none."""
    aside = sub(v, scale(dot(v, u), u))
    length = norm(aside)
    return scale(1.0 / length, aside) if length > TINY else across(u)
