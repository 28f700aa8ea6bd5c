# SPDX-License-Identifier: BSD-3-Clause
r"""Contact of a probe with a socket, from the geometry of both as surfaces of revolution.

Three kinds of places can touch: those of the socket's rim that are deeper in the probe than what is beside them, the
circles of the probe's profile on the wall of the bore, and the rim on the flange. At each the force is a spring's with
a damper beside it, taken at the end of a step of length h as far as the bodies' own inertia goes,

.. math::
    f = \frac{k (r + h v) + c v}{1 + h (h k + c) / m} \ge 0,

with r the overlap, v its rate and 1/m the bodies' yielding at the place (`iap_physics.latching.kernel`), and friction
:math:`\min(\mu f, m v_t / 2 h)` against the sliding velocity v_t.
"""

import numpy as np
from numba import njit

from iap_description.arrays import Array
from iap_description.math.kernels import add, cross, dot, norm, scale, sub, vec_at
from iap_description.vehicles.latch import velocity_at
from iap_physics.docking.mechanism import Mechanism
from iap_physics.docking.touch_points import (
    TINY,
    Touch,
    across,
    at_flange,
    at_rim,
    depth_at,
    frames,
    in_bore,
    is_in_bore,
    on_face,
    radius_at,
    rim_of,
)
from iap_physics.latching.kernel import BodyInertia, mobility_at

CONTACT_RANGE = 0.2  # distance from the mouth beyond which nothing touches [m]
SIDES = 24  # of the rim, between which its deepest places are sought
STEP = 2.0 * np.pi / SIDES  # [rad]
COSINES, SINES = np.cos(STEP * np.arange(SIDES)), np.sin(STEP * np.arange(SIDES))


@njit(cache=True, error_model="numpy")
def contact(
    x_p: Array,
    x_s: Array,
    m_p: BodyInertia,
    m_s: BodyInertia,
    mechanism: Mechanism,
    dt: float,
    out: Array,
) -> bool:
    """Write the wrenches (2, 6) of contact on the probe's and the socket's body about their CoMs, world axes.

    Args:
        x_p: (13,) state row of the probe's body.
        x_s: (13,) of the socket's.
        m_p: inertia of the first.
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
    E, M, u, back = frames(x_p, x_s, mechanism)
    d = sub(E, M)
    if dot(d, d) > CONTACT_RANGE * CONTACT_RANGE or dot(back, u) < 0.3 or dot(d, u) > TINY:
        return False  # too far, across, or the whole probe is before the mouth
    touches = _push_at_rim(x_p, x_s, m_p, m_s, mechanism, dt, out)
    for k in range(len(mechanism.along) - 1):
        if is_in_bore(d, u, back, k, mechanism):
            touch = in_bore(M, d, u, back, k, mechanism)
            touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    if -dot(d, u) > 0.8 * mechanism.along[-1]:
        aside = across(u)
        for side in (aside, scale(-1.0, aside), cross(u, aside), cross(aside, u)):
            touch = at_flange(E, M, side, back, mechanism)
            touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    return touches


@njit(cache=True, error_model="numpy")
def _push_at_rim(
    x_p: Array,
    x_s: Array,
    m_p: BodyInertia,
    m_s: BodyInertia,
    mechanism: Mechanism,
    dt: float,
    out: Array,
) -> bool:
    """Add the wrenches of the rim's places that are deeper in the probe than those beside them.

    A tilted probe has two of them: one where its axis is off, the other across, where its shoulder comes first.
    """
    E, M, u, back = frames(x_p, x_s, mechanism)
    d = sub(E, M)
    s_0 = -dot(d, u) / dot(back, u)  # where the probe's axis is in the plane of the mouth
    if s_0 <= 0.0:
        return False
    off = norm(add(d, scale(s_0, back)))
    if off > mechanism.bore:
        touch = on_face(E, M, scale(1.0 / off, add(d, scale(s_0, back))), back, off, mechanism)
        return _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
    tilt = dot(back, u)
    furthest = s_0 + mechanism.bore * np.sqrt(max(0.0, 1.0 - tilt * tilt))
    if radius_at(furthest, mechanism) + off <= mechanism.bore * tilt:
        return False  # the rim is around it
    touches, rim = False, rim_of(E, M, u, back, mechanism)
    before = depth_at(rim, COSINES[-1], SINES[-1], mechanism)
    here = depth_at(rim, COSINES[0], SINES[0], mechanism)
    for k in range(SIDES):
        after = depth_at(rim, COSINES[k + 1 - SIDES], SINES[k + 1 - SIDES], mechanism)
        if here > 0.0 and here >= before and here > after:
            bend = min(before - 2.0 * here + after, -TINY)
            angle = (k + 0.5 * (before - after) / bend) * STEP  # of the parabola's top
            if depth_at(rim, np.cos(angle), np.sin(angle), mechanism) < here:
                angle = k * STEP
            touch = at_rim(E, M, rim, angle, back, mechanism)
            touches |= _push(x_p, x_s, m_p, m_s, mechanism, dt, touch, out)
        before, here = here, after
    return touches


@njit(cache=True, error_model="numpy")
def _push(
    x_p: Array,
    x_s: Array,
    m_p: BodyInertia,
    m_s: BodyInertia,
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
    ease = mobility_at(x_p, touch.place, n, m_p) + mobility_at(x_s, touch.place, n, m_s)
    damper = dt * mechanism.stiffness + mechanism.damping
    f = (mechanism.stiffness * touch.overlap + damper * rate) / (1.0 + dt * damper * ease)
    if f <= 0.0:
        return True
    slide = add(v, scale(rate, n))
    slip = norm(slide)
    drag = min(mechanism.friction * f, 0.5 * slip / (dt * ease))
    force = sub(scale(f, n), scale(drag / max(slip, TINY), slide))
    for row, x, sign in ((0, x_p, 1.0), (1, x_s, -1.0)):
        push = scale(sign, force)
        torque = cross(sub(touch.place, vec_at(x, 0)), push)
        for k in range(3):
            out[row, k] += push[k]
            out[row, 3 + k] += torque[k]
    return True
