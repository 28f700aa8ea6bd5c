# SPDX-License-Identifier: BSD-3-Clause
r"""Contact of a probe with a socket, from the geometry of both as surfaces of revolution.

Three kinds of places can touch: the socket's rim on the probe's surface or end, the circles of the probe's profile on
the wall of the bore, and the rim on the flange. At each the force is a spring's with a damper beside it, taken at the
end of a step of length h as far as the bodies' own inertia goes,

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
    E, M = place_of(x_p, mechanism.probe.position), place_of(x_s, mechanism.socket.position)
    d = sub(E, M)
    if dot(d, d) > NEAR * NEAR:
        return False
    u = rotate(quat_at(x_s, 3), vec_at(mechanism.socket.axis, 0))
    back = scale(-1.0, rotate(quat_at(x_p, 3), vec_at(mechanism.probe.axis, 0)))
    if dot(back, u) < 0.3:
        return False
    touches = _push(x_p, x_s, m_p, m_s, mechanism, dt, _at_rim(E, M, d, u, back, mechanism), out)
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
def _at_rim(E: Vec, M: Vec, d: Vec, u: Vec, back: Vec, mechanism: Mechanism) -> Touch:
    """The place of the rim that is deepest in the probe: on the side to which the probe's axis is off."""
    s_0 = -dot(d, u) / dot(back, u)
    c = add(d, scale(s_0, back))
    off = norm(c)
    if s_0 <= 0.0 or off < TINY:
        return Touch(M, u, -1.0)
    radius = min(max(off, mechanism.bore), mechanism.rim)
    place = add(M, scale(radius / off, c))
    g = sub(place, E)
    s = dot(g, back)
    aside = sub(g, scale(s, back))
    away = norm(aside)
    r, slope = _profile(s, mechanism)
    overlap = (r - away) / np.sqrt(1.0 + slope * slope)
    if s < 0.0 or s > mechanism.along[-1] or overlap < 0.0:
        return Touch(place, u, -1.0)
    if s < overlap:
        return Touch(place, back, s)
    outwards = add(scale(1.0 / max(away, TINY), aside), scale(-slope, back))
    return Touch(place, scale(-1.0 / np.sqrt(1.0 + slope * slope), outwards), overlap)


@njit(cache=True)
def _profile(s: float, mechanism: Mechanism) -> tuple[float, float]:
    """Radius [m] and slope of the probe at a distance from its end [m]."""
    along, radii = mechanism.along, mechanism.radii
    for k in range(1, len(along)):
        if s <= along[k]:
            slope = (radii[k] - radii[k - 1]) / (along[k] - along[k - 1])
            return radii[k - 1] + slope * (s - along[k - 1]), slope
    return radii[-1], 0.0


@njit(cache=True)
def _in_bore(M: Vec, d: Vec, u: Vec, back: Vec, k: int, mechanism: Mechanism) -> Touch:
    """A circle of the probe's profile on the wall of the bore."""
    center = add(d, scale(mechanism.along[k], back))
    x = dot(center, u)
    aside = sub(center, scale(x, u))
    off = norm(aside)
    if x > 0.0 or x < -mechanism.depth or off > mechanism.bore or off < TINY:
        return Touch(M, u, -1.0)
    out = scale(1.0 / off, aside)
    place = add(add(M, scale(x, u)), scale(mechanism.bore, out))
    return Touch(place, scale(-1.0, out), off + mechanism.radii[k] - mechanism.bore)


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
