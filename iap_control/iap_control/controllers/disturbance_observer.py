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

from iap_control.allocation.model import Inertia
from iap_control.gains import DisturbanceGains
from iap_control.laws.tracking import Motion, motion_at
from iap_description.arrays import Array
from iap_description.math.kernels import (
    Mat,
    Quat,
    Six,
    Vec,
    add,
    add6,
    angular,
    cross,
    formula,
    linear,
    mat,
    most,
    norm,
    put_six,
    rotate,
    scale,
    select3,
    select6,
    six,
    six_at,
    sub,
    sub6,
    unrotate,
    vec,
)
from iap_description.math.momentum import inertia_about_com, momenta


class ObserverParameters(NamedTuple):
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


class DisturbanceMemory(NamedTuple):
    """Memory from the last control step.

    Attributes:
        h: (6,) momentum about the CoM, world axes [N s, N m s].
        d: (6,) estimate about the CoM, world axes [N, N m].
        made_P: (6,) active wrench about P's origin, in P [N, N m].
        is_known: (1,) 1 where momentum and active wrench are known, else 0.
        own_P: (6,) momentum now that moving parts, such as an arm, add to the platform's, about P's origin in P.
    """

    h: Array
    d: Array
    made_P: Array
    is_known: Array
    own_P: Array

    @classmethod
    def empty(cls) -> Self:
        """Nothing is known yet."""
        return cls(np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(1), np.zeros(6))


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
        self._observed = ObserverParameters.of(inertia, gains, self._dt)
        self.is_on = any(gains.bandwidth)
        if not self.is_on:
            self.reset()

    def set_inertia(self, inertia: Inertia, own_P: Array) -> None:
        """Take the platform's present inertia, and the momentum (6,) of its moving parts, see `DisturbanceMemory`."""
        J_C = inertia_about_com(inertia.J, inertia.mass, inertia.d_0)
        self._observed = self._observed._replace(d_0=inertia.d_0, J_C=J_C)
        self._memory.own_P[:] = own_P

    def reset(self) -> None:
        """Forget the past; the first state after it changes no estimate."""
        self._memory = DisturbanceMemory.empty()
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


class ObserverInputs(NamedTuple):
    """`ObserverParameters` in numbers, with momenta and known wrench of the last step, see `DisturbanceMemory`."""

    mass: float
    gravity: float
    d_0: Vec
    J_C: Mat
    share: tuple[float, float]
    limit: tuple[float, float]
    h: Six
    made_P: Six
    is_known: bool


@formula
def estimate(x: Motion, d: Six, e: ObserverInputs, dt: float) -> tuple[Six, Six]:
    """The momentum now, and the estimate a period later than `d`, both as in `DisturbanceMemory`."""
    p, L = momenta(x.q, x.v, x.w, e.mass, e.d_0, e.J_C)
    f_P = linear(e.made_P)
    f = add(rotate(x.q, f_P), (0.0, 0.0, -e.mass * e.gravity))
    torque = rotate(x.q, sub(angular(e.made_P), cross(e.d_0, f_P)))
    force_d = _taken_up(linear(d), p, linear(e.h), f, e.share[0], dt)
    torque_d = _taken_up(angular(d), L, angular(e.h), torque, e.share[1], dt)
    after = six(_at_most(force_d, e.limit[0]), _at_most(torque_d, e.limit[1]))
    return six(p, L), select6(e.is_known, after, d)


@formula
def about_origin(d: Six, q: Quat, d_0: Vec) -> Six:
    """An estimate about the CoM in world axes, about P's origin in P [N, N m]."""
    d_P = unrotate(q, linear(d))
    return six(d_P, add(unrotate(q, angular(d)), cross(d_0, d_P)))


@njit(cache=True)
def observe(
    x: Array,
    felt_P: Array,
    observed: ObserverParameters,
    dt: float,
    memory: DisturbanceMemory,
    wrench_P: Array,
) -> None:
    """Advance the estimate by one period and express it about P's origin in P."""
    motion, d_0 = motion_at(x), vec(observed.d_0)
    share, limit = (
        (observed.share[0], observed.share[1]),
        (observed.limit[0], observed.limit[1]),
    )
    is_known = memory.is_known[0] > 0.0 and not touches(six_at(felt_P, 0), observed.contact)
    body = (observed.mass, observed.gravity, d_0, mat(observed.J_C), share, limit)
    l_P = vec(memory.own_P)
    k_P = sub(vec(memory.own_P[3:]), cross(d_0, l_P))  # about the CoM
    moving = six(rotate(motion.q, l_P), rotate(motion.q, k_P))
    h_last = sub6(six_at(memory.h, 0), moving)
    last = ObserverInputs(*body, h_last, six_at(memory.made_P, 0), is_known)
    h, d = estimate(motion, six_at(memory.d, 0), last, dt)
    put_six(memory.h, 0, add6(h, moving))
    put_six(memory.d, 0, d)
    put_six(wrench_P, 0, about_origin(d, motion.q, d_0))


@formula
def touches(felt_P: Six, contact: float) -> bool:
    """Tell from the wrench that is measured if there is contact."""
    a, b, c, d, e, f = felt_P
    force = (abs(a) > contact) | (abs(b) > contact) | (abs(c) > contact)
    return force | (abs(d) > contact) | (abs(e) > contact) | (abs(f) > contact)


@formula
def _taken_up(d: Vec, h: Vec, last: Vec, f: Vec, share: float, dt: float) -> Vec:
    """An estimate that has taken up its share of what the known wrench leaves open."""
    return (
        d[0] + share * ((h[0] - last[0]) / dt - f[0] - d[0]),
        d[1] + share * ((h[1] - last[1]) / dt - f[1] - d[1]),
        d[2] + share * ((h[2] - last[2]) / dt - f[2] - d[2]),
    )


@formula
def _at_most(v: Vec, limit: float) -> Vec:
    """A vector shortened to a limit."""
    length = norm(v)
    return select3(length > limit, scale(limit / most(length, limit), v), v)
