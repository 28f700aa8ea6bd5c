# SPDX-License-Identifier: BSD-3-Clause
r"""Contact of a probe with a socket, from the geometry of both as surfaces of revolution.

Three kinds of places can touch: those of the socket's rim that are deeper in the probe than what is beside them, the
circles of the probe's profile on the wall of the bore, and the rim on the flange. At each the force is a spring's with
a damper beside it, taken at the end of a step of length h as far as the bodies' own inertia goes,

.. math::
    f = \frac{k (r + h v) + c v}{1 + h (h k + c) / m} \ge 0,

with r the overlap, v its rate and 1/m the bodies' yielding at the place (`iap_physics.latches`), and friction
:math:`\min(\mu f, m v_t / 2 h)` against the sliding velocity v_t.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.kernels import (
    Vec,
    add,
    cross,
    dot,
    norm,
    quat_at,
    rotate,
    scale,
    sub,
    vec_at,
)
from iap_description.vehicles.latch import PortFrame, place_of, velocity_at
from iap_description.vehicles.ports import Probe, Socket
from iap_description.world.shapes import Surface
from iap_physics.latches import Masses, point_ease

NEAR = 0.2  # distance from the mouth beyond which nothing touches [m]
TINY = 1e-9  # [m]
SIDES = 24  # of the rim, between which its deepest places are sought
STEP = 2.0 * np.pi / SIDES  # [rad]
POINTS = 2.0  # contact points that engines find where polygons stand for two round things


class Mechanism(NamedTuple):
    """Probe and socket as the kernel takes them.

    Attributes:
        probe: frame at the probe's end.
        socket: frame in the socket's mouth.
        along: (n,) distances from the probe's end [m].
        radii: (n,) the probe's radius there [m].
        flange: radius of its flange [m].
        bore: radius of the socket [m].
        rim: outer radius of its mouth [m].
        depth: of the socket [m].
        stiffness: of a place that touches [N/m].
        damping: [N s/m].
        friction: coefficient.
        reach: distance of the bodies' CoMs beyond which nothing touches [m].
    """

    probe: PortFrame
    socket: PortFrame
    along: Array
    radii: Array
    flange: float
    bore: float
    rim: float
    depth: float
    stiffness: float
    damping: float
    friction: float
    reach: float

    @classmethod
    def of(cls, probe: Probe, socket: Socket, surfaces: tuple[Surface, Surface]) -> Self:
        """Of two ports and the soft surfaces of their aircraft, which are springs in series and dampers side by side.

        Raises:
            ValueError: a surface is rigid.
        """
        compliance, damping = 0.0, 0.0
        for surface in surfaces:
            if surface.stiffness is None or surface.damping is None:
                raise ValueError("key 'surface.stiffness': docking in batches needs soft surfaces")
            compliance += 1.0 / surface.stiffness
            damping += surface.damping
        along, radii = np.array(probe.profile).T
        return cls(
            PortFrame.of(probe, np.zeros(3)),
            PortFrame.of(socket, np.zeros(3)),
            np.ascontiguousarray(along),
            np.ascontiguousarray(radii),
            probe.flange,
            socket.radius,
            socket.radius + socket.wall,
            socket.depth,
            POINTS / compliance,
            POINTS * damping,
            float(np.sqrt(surfaces[0].friction * surfaces[1].friction)),
            float(np.linalg.norm(probe.position) + np.linalg.norm(socket.position)) + probe.flange,
        )


class Touch(NamedTuple):
    """A place that may touch: where [m], the normal that pushes the probe away, and the overlap [m], if positive."""

    place: Vec
    normal: Vec
    overlap: float


@njit(cache=True)
def contact(
    x_p: Array, x_s: Array, m_p: Masses, m_s: Masses, mechanism: Mechanism, dt: float, out: Array
) -> bool:
    """Write the wrenches (2, 6) of contact on the probe's and the socket's body about their CoMs, world axes.

    Args:
        x_p: (13,) state row of the probe's body.
        x_s: (13,) of the socket's.
        m_p: inverse masses of the first.
        m_s: of the second.
        mechanism: the geometry.
        dt: step [s].
        out: written.

    Returns:
        Whether anything touches.
    """
    for i in range(2):
        for k in range(6):
            out[i, k] = 0.0
    E, M, u, back = _frames(x_p, x_s, mechanism)
    d = sub(E, M)
    if dot(d, d) > NEAR * NEAR or dot(back, u) < 0.3:
        return False
    touches = _push_at_rim(x_p, x_s, m_p, m_s, mechanism, dt, out)
    for k in range(len(mechanism.along) - 1):
        touch = _in_bore(M, d, u, back, k, mechanism)
        touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    if -dot(d, u) > 0.8 * mechanism.along[-1]:
        aside = _across(u)
        for side in (aside, scale(-1.0, aside), cross(u, aside), cross(aside, u)):
            touch = _at_flange(E, M, side, back, mechanism)
            touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    return touches


@njit(cache=True)
def _across(u: Vec) -> Vec:
    """A unit vector across a unit vector."""
    v = cross(u, (0.0, 0.0, 1.0)) if abs(u[2]) < 0.9 else cross(u, (1.0, 0.0, 0.0))
    return scale(1.0 / norm(v), v)


@njit(cache=True)
def _push_at_rim(
    x_p: Array, x_s: Array, m_p: Masses, m_s: Masses, mechanism: Mechanism, dt: float, out: Array
) -> bool:
    """Add the wrenches of the rim's places that are deeper in the probe than those beside them.

    A tilted probe has two of them: one where its axis is off, the other across, where its shoulder comes first.
    """
    E, M, u, back = _frames(x_p, x_s, mechanism)
    d = sub(E, M)
    s_0 = -dot(d, u) / dot(back, u)  # where the probe's axis is in the plane of the mouth
    if s_0 <= 0.0:
        return False
    off = norm(add(d, scale(s_0, back)))
    if off > mechanism.bore:
        touch = _on_face(E, M, scale(1.0 / off, add(d, scale(s_0, back))), back, off, mechanism)
        return _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    tilt = dot(back, u)
    furthest = s_0 + mechanism.bore * np.sqrt(max(0.0, 1.0 - tilt * tilt))
    if _radius(furthest, mechanism) + off <= mechanism.bore * tilt:
        return False  # the rim is around it
    touches, a = False, _across(u)
    b = cross(u, a)
    before = _at_angle(E, M, a, b, back, -STEP, mechanism).overlap
    touch = _at_angle(E, M, a, b, back, 0.0, mechanism)
    for k in range(SIDES):
        after = _at_angle(E, M, a, b, back, (k + 1) * STEP, mechanism)
        here = touch.overlap
        if here > 0.0 and here >= before and here > after.overlap:
            bend = before - 2.0 * here + after.overlap
            angle = (k + 0.5 * (before - after.overlap) / min(bend, -TINY)) * STEP
            finer = _at_angle(E, M, a, b, back, angle, mechanism)
            best = finer if finer.overlap > here else touch
            touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, best, out)
        before, touch = here, after
    return touches


@njit(cache=True)
def _on_face(E: Vec, M: Vec, side: Vec, back: Vec, off: float, mechanism: Mechanism) -> Touch:
    """The place of the mouth's face that is closest to the probe's axis, which misses the bore."""
    place = add(M, scale(min(off, mechanism.rim), side))
    return _in_probe(place, E, back, mechanism)


@njit(cache=True)
def _at_angle(
    E: Vec, M: Vec, a: Vec, b: Vec, back: Vec, angle: float, mechanism: Mechanism
) -> Touch:
    """The place of the rim at an angle from a towards b."""
    side = add(scale(np.cos(angle), a), scale(np.sin(angle), b))
    return _in_probe(add(M, scale(mechanism.bore, side)), E, back, mechanism)


@njit(cache=True)
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


@njit(cache=True)
def _depth_in(s: float, away: float, mechanism: Mechanism) -> tuple[float, float]:
    """Depth [m] of a point below the profile, at distances along and from the axis [m], and slope of the face there.

    The point is in the convex run of segments around s: the nearest of its faces counts.
    """
    k = _segment(s, mechanism)
    depth, slope = _depth_below(k, s, away, mechanism)
    for way in (-1, 1):
        last, j = _slope_of(k, mechanism), k + way
        while 0 <= j < len(mechanism.along) - 1:
            own = _slope_of(j, mechanism)
            if (own - last) * way >= 0.0:
                break  # a corner that goes in
            other, _ = _depth_below(j, s, away, mechanism)
            if other < depth:
                depth, slope = other, own
            last, j = own, j + way
    return depth, slope


@njit(cache=True)
def _slope_of(k: int, mechanism: Mechanism) -> float:
    """Slope of a segment of the profile."""
    along, radii = mechanism.along, mechanism.radii
    return float((radii[k + 1] - radii[k]) / (along[k + 1] - along[k]))


@njit(cache=True)
def _radius(s: float, mechanism: Mechanism) -> float:
    """Radius of the probe at a distance from its end [m], and of its widest place beyond its length."""
    k = _segment(s, mechanism)
    depth, slope = _depth_below(k, min(s, mechanism.along[-1]), 0.0, mechanism)
    return depth * np.sqrt(1.0 + slope * slope)


@njit(cache=True)
def _segment(s: float, mechanism: Mechanism) -> int:
    """Number of the profile's segment at a distance from its end [m]."""
    k = 0
    while k < len(mechanism.along) - 2 and s > mechanism.along[k + 1]:
        k += 1
    return k


@njit(cache=True)
def _depth_below(k: int, s: float, away: float, mechanism: Mechanism) -> tuple[float, float]:
    """Depth [m] of a point below the line through a segment of the profile, and its slope."""
    slope = _slope_of(k, mechanism)
    radius = mechanism.radii[k] + slope * (s - mechanism.along[k])
    return (radius - away) / np.sqrt(1.0 + slope * slope), slope


@njit(cache=True)
def _in_bore(M: Vec, d: Vec, u: Vec, back: Vec, k: int, mechanism: Mechanism) -> Touch:
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


@njit(cache=True)
def _unit_aside(v: Vec, u: Vec) -> Vec:
    """The unit vector of v across a unit vector u; any across it where there is none."""
    aside = sub(v, scale(dot(v, u), u))
    length = norm(aside)
    return scale(1.0 / length, aside) if length > TINY else _across(u)


@njit(cache=True)
def _frames(x_p: Array, x_s: Array, mechanism: Mechanism) -> tuple[Vec, Vec, Vec, Vec]:
    """The probe's end, the mouth, the socket's axis out of it, and the probe's from its end backwards."""
    E, M = place_of(x_p, mechanism.probe.position), place_of(x_s, mechanism.socket.position)
    u = rotate(quat_at(x_s, 3), vec_at(mechanism.socket.axis, 0))
    back = scale(-1.0, rotate(quat_at(x_p, 3), vec_at(mechanism.probe.axis, 0)))
    return E, M, u, back


@njit(cache=True)
def _at_flange(E: Vec, M: Vec, side: Vec, back: Vec, mechanism: Mechanism) -> Touch:
    """A place of the rim on the flange."""
    place = add(M, scale(0.5 * (mechanism.bore + mechanism.rim), side))
    g = sub(place, E)
    s = dot(g, back)
    away = norm(sub(g, scale(s, back)))
    is_under = mechanism.radii[-1] < away < mechanism.flange
    return Touch(place, back, s - mechanism.along[-1] if is_under else -1.0)


@njit(cache=True)
def _push(
    x_p: Array,
    x_s: Array,
    m_p: Masses,
    m_s: Masses,
    mechanism: Mechanism,
    dt: float,
    touch: Touch,
    out: Array,
) -> bool:
    """Add the wrenches of a place that touches."""
    if touch.overlap <= 0.0:
        return False
    n = touch.normal
    v = sub(velocity_at(x_p, touch.place), velocity_at(x_s, touch.place))
    rate = -dot(v, n)
    ease = point_ease(x_p, touch.place, n, m_p) + point_ease(x_s, touch.place, n, m_s)
    damper = dt * mechanism.stiffness + mechanism.damping
    f = (mechanism.stiffness * touch.overlap + damper * rate) / (1.0 + dt * damper * ease)
    if f <= 0.0:
        return True
    slide = add(v, scale(rate, n))
    slip = norm(slide)
    drag = min(mechanism.friction * f, 0.5 * slip / (dt * ease))
    force = sub(scale(f, n), scale(drag / max(slip, TINY), slide))
    for row, x, sign in ((0, x_p, 1.0), (1, x_s, -1.0)):
        own = scale(sign, force)
        torque = cross(sub(touch.place, vec_at(x, 0)), own)
        for k in range(3):
            out[row, k] += own[k]
            out[row, 3 + k] += torque[k]
    return True
