# SPDX-License-Identifier: BSD-3-Clause
r"""The physics of a latch, for engines and for batches: when it catches, how it damps, when it locks and lets go.

What is caught is slowed by F = -c v and tau = -c_t w of the relative motion at the probe's end, of which v and w are
taken at the end of the step as far as the bodies' own inertia goes,

.. math::
    F = -\frac{c\,v}{1 + h c / m}, \qquad
    \frac1m = \sum_{bodies} \frac1{m_b} + (r_b \times n) \cdot J_b^{-1} (r_b \times n), \quad n = v / |v|,

and likewise for the torque: a body that others are joined to is heavier than that, and is slowed less in a step. When
it is slow a rigid joint takes over.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.math.kernels import (
    Vec,
    cross,
    dot,
    formula,
    mat,
    mv,
    norm,
    put_at,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec_at,
)
from iap_description.vehicles.body import Body
from iap_description.vehicles.latch import (
    Approach,
    FaceCatch,
    Latch,
    PortFrame,
    is_caught,
    place_of,
    velocity_at,
)

LOCK_SPEED, LOCK_RATE = 0.02, 0.1  # relative motion below which it locks [m/s], [rad/s]
EXIT_DEPTH = 0.01  # what is so much less deep than the latch needs has left it [m]

OPEN, CAUGHT, LOCKED, SPENT = range(4)  # phases, as iap_msgs/LatchState numbers them


class LatchParameters(NamedTuple):
    """A latch as compiled code takes it; fields as those of `Latch`, angles in radians."""

    depth: float
    radius: float
    angle: float
    speed: float
    damping: float
    turn_damping: float
    max_force: float

    @classmethod
    def of(cls, latch: Latch) -> Self:
        """The parameters of a latch."""
        catches = (latch.depth, latch.radius, math.radians(latch.angle_deg), latch.speed)
        return cls(*catches, latch.damping, latch.turn_damping, latch.max_force)


class FaceLimits(NamedTuple):
    """Limits of a face as compiled code takes them; see `FaceCatch`.

    Attributes:
        least_speed: [m/s].
        slip: [m/s].
        turn_rate: [rad/s].
    """

    least_speed: float
    slip: float
    turn_rate: float

    @classmethod
    def of(cls, face: FaceCatch) -> Self:
        """The limits of a face."""
        return cls(face.least_speed, face.slip, face.turn_rate)


class BodyInertia(NamedTuple):
    """Inverse mass [1/kg], inertia (3, 3) [kg m^2] and its inverse of a body."""

    inverse_mass: float
    J: Array
    J_inv: Array

    @classmethod
    def of(cls, body: Body) -> Self:
        """The inertia of an assembly's body."""
        return cls(1.0 / body.mass, body.inertia, np.linalg.inv(body.inertia).astype(float))

    @classmethod
    def immovable(cls) -> Self:
        """That of what stands: no force moves it."""
        return cls(0.0, np.zeros((3, 3)), np.zeros((3, 3)))


@formula
def next_phase(phase: int, probe: Approach, latch: LatchParameters, may_catch: bool) -> int:
    """Phase of a latch that is not locked, by how the probe is to the socket."""
    has_left = probe.depth < latch.depth - EXIT_DEPTH
    if phase == OPEN:
        catches = is_caught(probe, latch.depth, latch.radius, latch.angle, latch.speed)
        return CAUGHT if catches and may_catch else OPEN
    return OPEN if has_left else phase


@formula
def next_face_phase(
    phase: int, probe: Approach, slip: float, rate: float, latch: LatchParameters, face: FaceLimits
) -> int:
    """Phase of a latch of a face that is not locked: at the touch it catches, or is spent until the probe leaves.

    Args:
        phase: the last one.
        probe: how it is to the face.
        slip: its speed along the face [m/s].
        rate: of its body's turn [rad/s].
        latch: its limits.
        face: further ones.
    """
    if phase == OPEN and probe.depth >= latch.depth:
        catches = is_caught(probe, latch.depth, latch.radius, latch.angle, latch.speed)
        holds = probe.closing >= face.least_speed and slip <= face.slip and rate <= face.turn_rate
        return CAUGHT if catches and holds else SPENT
    return next_phase(phase, probe, latch, False)


@formula
def is_slow(speed: float, rate: float) -> bool:
    """Tell if what is caught moves slowly enough to be locked; relative motion in m/s and rad/s."""
    return speed < LOCK_SPEED and rate < LOCK_RATE


@formula
def damp(
    x_p: Array,
    x_s: Array,
    probe: PortFrame,
    m_p: BodyInertia,
    m_s: BodyInertia,
    latch: LatchParameters,
    dt: float,
    out: Array,
) -> tuple[float, float]:
    """Write force and torque (6,) of the damper on the probe, see the module; returns speed and turn rate."""
    E = place_of(x_p, probe.position)
    v = sub(velocity_at(x_p, E), velocity_at(x_s, E))
    w = sub(vec_at(x_p, 10), vec_at(x_s, 10))
    speed, turn = norm(v), norm(w)
    n, axis = scale(1.0 / max(speed, 1e-12), v), scale(1.0 / max(turn, 1e-12), w)
    ease = mobility_at(x_p, E, n, m_p) + mobility_at(x_s, E, n, m_s)
    turn_ease = dot(axis, spin_up(x_p, axis, m_p.J_inv)) + dot(axis, spin_up(x_s, axis, m_s.J_inv))
    put_at(out, 0, scale(-latch.damping / (1.0 + dt * latch.damping * ease), v))
    put_at(out, 3, scale(-latch.turn_damping / (1.0 + dt * latch.turn_damping * turn_ease), w))
    return speed, turn


@formula
def spin_up(x: Array, torque_W: Vec, J_inv: Array) -> Vec:
    """Angular acceleration [rad/s^2] of a body of state row (13,) under a torque [N m], world axes."""
    q = quat_at(x, 3)
    return rotate(q, mv(mat(J_inv), unrotate(q, torque_W)))


@formula
def mobility_at(x: Array, p_W: Vec, n: Vec, body: BodyInertia) -> float:
    """Acceleration along n of a body's point per force along n there [1/kg]."""
    arm = cross(sub(p_W, vec_at(x, 0)), n)
    return body.inverse_mass + dot(arm, spin_up(x, arm, body.J_inv))
