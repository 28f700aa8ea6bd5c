# SPDX-License-Identifier: BSD-3-Clause
r"""The wrench that the controller's model does not know of, observed and fed forward: wind, a wrong mass, a weak rotor.

What the platform's momentum gains beyond what its thrusts and its weight give it is a disturbance. With the momenta
h = [p; L] about the common CoM in world axes and the known wrench f, its estimate behind a first-order low-pass is

.. math::
    \dot d = \omega (\dot h - f - d),

the momentum observer of beatle eqs. (28)-(38) on the controller's own model. Over a control period the mean of
\dot h is \Delta h / dt, whence d_k = d_{k-1} + (1 - e^{-\omega dt}) (\Delta h / dt - f - d_{k-1}). The motion laws
compensate d as they do the external wrench F_e of iap_simulator eq. (10).

In contact the estimate stays as it is: the wrench that is felt comes late, behind its sensor's low-pass, and what is
still missing of it would be taken for wind and fought.

No lag of the thrusts is modelled: they are taken for what the allocator has commanded within the aircraft's limits. The
bandwidth must therefore stay well below that of the aircraft's attitude loops, of some 20 rad/s.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_control.gains import DisturbanceGains
from iap_control.model import Inertia
from iap_description.arrays import Array
from iap_description.kernels import (
    add,
    cross,
    norm,
    put,
    put_at,
    quat_at,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
    vec_at,
)
from iap_description.momentum import inertia_about_com, momentum_about_com


class Observed(NamedTuple):
    """A platform and the observer's settings as the compiled part takes them.

    Attributes:
        mass: of the platform [kg].
        gravity: g [m/s^2].
        d_0: (3,) the CoM in P [m].
        J_C: (3, 3) inertia about it, axes of P [kg m^2].
        share: (2,) of what is missing that the estimates of force and torque take up in one period.
        limit: (2,) largest estimates of force and torque [N, N m].
        contact: largest component of the wrench that is felt without contact [N, N m].
    """

    mass: float
    gravity: float
    d_0: Array
    J_C: Array
    share: Array
    limit: Array
    contact: float

    @classmethod
    def of(cls, inertia: Inertia, gains: DisturbanceGains, dt: float) -> Self:
        """The observer of a platform under a gain preset, at a control period [s]."""
        J_C = inertia_about_com(inertia.J, inertia.mass, inertia.d_0)
        share = -np.expm1(-np.array(gains.bandwidth) * dt)
        limit = np.array(gains.limit) * [inertia.mass, np.linalg.norm(J_C, 2)]
        body = (inertia.mass, inertia.gravity, inertia.d_0, J_C)
        return cls(*body, share, limit, gains.contact)


class Memory(NamedTuple):
    """Memory from the last control step.

    Attributes:
        h: (6,) momentum about the CoM, world axes [N s, N m s].
        d: (6,) estimate about the CoM, world axes [N, N m].
        made_P: (6,) active wrench about P's origin, in P [N, N m].
        is_known: (1,) 1 where momentum and active wrench are known, else 0.
    """

    h: Array
    d: Array
    made_P: Array
    is_known: Array

    @classmethod
    def empty(cls) -> Self:
        """Nothing is known yet."""
        return cls(np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(1))


class DisturbanceObserver:
    """Estimates the disturbance of one platform.

    Args:
        inertia: of the platform.
        gains: of the observer.
        dt: control period [s].

    Attributes:
        wrench_P: (6,) the last estimate, about P's origin in P [N, N m].
        is_on: whether anything is estimated.
    """

    def __init__(self, inertia: Inertia, gains: DisturbanceGains, dt: float) -> None:
        self._dt, self.wrench_P = dt, np.zeros(6)
        self.reset()
        self.set_gains(inertia, gains)

    def set_gains(self, inertia: Inertia, gains: DisturbanceGains) -> None:
        """Change model and gains, also in flight; the estimate stays unless the observer is switched off."""
        self._observed = Observed.of(inertia, gains, self._dt)
        self.is_on = any(gains.bandwidth)
        if not self.is_on:
            self.reset()

    def reset(self) -> None:
        """Forget the past; the first state after it changes no estimate."""
        self._memory = Memory.empty()
        self.wrench_P[:] = 0.0

    def __call__(self, x: Array, wrench_P: Array) -> Array:
        """Estimated disturbance (6,) about P's origin in P [N, N m]; overwritten by the next call.

        Args:
            x: (13,) state row of the central body now.
            wrench_P: (6,) wrench of the environment that is felt, likewise.
        """
        observe(x, wrench_P, self._observed, self._dt, self._memory, self.wrench_P)
        return self.wrench_P

    def note(self, made_P: Array | None) -> None:
        """Keep the active wrench (6,) made from now on; None, and the estimate stays, where it is not known."""
        self._memory.is_known[0] = float(made_P is not None)
        if made_P is not None:
            self._memory.made_P[:] = made_P


@njit(cache=True)
def observe(
    x: Array, felt_P: Array, observed: Observed, dt: float, memory: Memory, wrench_P: Array
) -> None:
    """Advance the estimate by one period and express it about P's origin in P."""
    q, d_0 = quat_at(x, 3), vec(observed.d_0)
    p, L = momentum_about_com(x, observed.mass, observed.d_0, observed.J_C)
    if memory.is_known[0] > 0.0 and not _touches(felt_P, observed.contact):
        f_P = vec(memory.made_P)
        f = add(rotate(q, f_P), (0.0, 0.0, -observed.mass * observed.gravity))
        torque = rotate(q, sub(vec_at(memory.made_P, 3), cross(d_0, f_P)))
        for i in range(3):
            _advance(memory, i, p[i], f[i], observed.share[0], dt)
            _advance(memory, 3 + i, L[i], torque[i], observed.share[1], dt)
        for k in range(2):
            _shorten(memory.d[3 * k : 3 * k + 3], observed.limit[k])
    put(memory.h, p)
    put_at(memory.h, 3, L)
    d_P = unrotate(q, vec(memory.d))
    put(wrench_P, d_P)
    put_at(wrench_P, 3, add(unrotate(q, vec_at(memory.d, 3)), cross(d_0, d_P)))


@njit(cache=True)
def _touches(felt_P: Array, contact: float) -> bool:
    """Tell from the wrench (6,) that is measured if there is contact."""
    for i in range(6):
        if abs(felt_P[i]) > contact:
            return True
    return False


@njit(cache=True)
def _advance(memory: Memory, i: int, h: float, f: float, share: float, dt: float) -> None:
    """Let one component of the estimate take up its share of what the known wrench leaves open."""
    memory.d[i] += share * ((h - memory.h[i]) / dt - f - memory.d[i])


@njit(cache=True)
def _shorten(v: Array, limit: float) -> None:
    """Shorten a vector (3,) to a limit, in place."""
    length = norm(vec(v))
    if length > limit:
        put(v, scale(limit / length, vec(v)))
