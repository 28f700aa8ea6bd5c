# SPDX-License-Identifier: BSD-3-Clause
r"""Landing: descents that end softly, whoever asks for them, and rotors that end once the vehicle stands.

As the land detectors of autopilots (PX4, ArduPilot) this one looks for descents that do not happen. What counts is
relative: the state lies above its reference and does not move. A bias of the vehicle's place, which is in both, changes
nothing. Near the ground a reference falls no faster than it can be stopped,

.. math::
    |v| \le \sqrt{v_0^2 + 2 a (h - h_0)},

with the touch speed v_0 from the height h_0 above standing downwards. Heavy vehicles touch slower, see `touch_factor`.
"""

import math

import numpy as np

from iap_control.references.landing import touch_factor
from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.math.kernels import quat, rotate, vec
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_P, REF_V, Level, P, Q, V, W

TOUCH_SPEED = 0.075  # of references of vehicles that are not heavy, v_0 [m/s]
TOUCH_HEIGHT = 0.08  # above standing, from which on it holds: h_0 [m]
BRAKING = 1.0  # a [m/s^2]
DEPTH = 0.25  # below standing, where references end [m]
CLIMBED = 0.05  # height of the reference above standing, from which on the vehicle flies [m]
MIN_EXCESS = 0.03  # of the state above its reference, by which the ground bears the vehicle [m]
MIN_FORCE = 0.07  # of the environment upwards, as a share of the weight, which does the same
MAX_SPEED = 0.03  # of a vehicle that stands [m/s]
MAX_RATE = 0.05  # [rad/s]
TIME_CONSTANT = 0.1  # of what is compared with these limits [s]
STAND_TIME = 1.0  # without an interruption, after which the rotors end [s]


class Flare:
    """Slows references that fall to the ground faster than they can be stopped.

    Args:
        height: of P's origin where the vehicle stands on the ground [m].
        touch_speed: v_0 [m/s].
    """

    def __init__(self, height: float, touch_speed: float) -> None:
        self._height, self._touch_speed = height, touch_speed
        self.reset()

    def reset(self) -> None:
        """A new flight."""
        self._last: tuple[float, float] | None = (
            None  # time [s] and height [m] of the last reference
        )

    def __call__(self, t: float, reference: Reference) -> Reference:
        """The reference to track at a time [s]: the one that is asked for, or a slower one."""
        z = float(reference.row[REF_P.stop - 1])
        last, self._last = self._last, (t, z)
        if last is None:
            return reference
        above = last[1] - self._height - TOUCH_HEIGHT
        speed = math.sqrt(self._touch_speed**2 + 2.0 * BRAKING * max(above, 0.0))
        lowest = max(last[1] - speed * max(t - last[0], 0.0), self._height - DEPTH)
        if z >= lowest:
            return reference
        self._last = (t, lowest)
        return self._slowed(reference, lowest, speed if above > -TOUCH_HEIGHT - DEPTH else 0.0)

    def _slowed(self, reference: Reference, z: float, speed: float) -> Reference:
        """The reference at another height [m], where it falls at a speed [m/s]."""
        row = reference.row.copy()
        row[REF_P.stop - 1], row[REF_V.stop - 1] = z, -speed
        row[REF_A.stop - 1] = BRAKING if speed > self._touch_speed else 0.0
        return Reference(row, reference.level, reference.wrench_P)


class LandDetector:
    """Ends the rotors of a vehicle once it stands, and lets them go on once it is asked to climb.

    Args:
        height: of P's origin where the vehicle stands on the ground [m].
        mass: of the vehicle [kg].
        gravity: that bears down on it [m/s^2].

    Attributes:
        touched_at: since when it stands [s]; None while it does not.
        has_landed: whether the rotors have been ended.
    """

    def __init__(self, height: float, mass: float, gravity: float = GRAVITY) -> None:
        self._height, self._weight = height, mass * gravity
        self._flare = Flare(height, TOUCH_SPEED * touch_factor(mass))
        self._idle = Reference(np.zeros(0), Level.WRENCH)
        self.reset()

    def reset(self) -> None:
        """A new flight, which may begin on the ground."""
        self.touched_at: float | None = None
        self.has_landed = self._flies = False
        self._lowest = np.inf  # height of the reference since the landing [m]
        self._t: float | None = None
        self._means = np.zeros(7)  # excess, velocity, rates
        self._flare.reset()

    def reference(
        self, t: float, x: Array, reference: Reference, wrench_P: Array | None = None
    ) -> Reference:
        """The reference to track at a time: the one that is asked for, a slower one, or none once the vehicle stands.

        Args:
            t: simulation time [s].
            x: (13,) state row of the central body as the vehicle knows it.
            reference: that is asked for.
            wrench_P: (6,) of the environment on the vehicle, in P [N, N m]; None where it is not measured.
        """
        if reference.level != Level.POSE:
            return reference
        reference = self._flare(t, reference)
        z = float(reference.row[REF_P.stop - 1])
        self._average(t, x, z)
        self._flies |= z > self._height + CLIMBED
        if self.has_landed:
            self._lowest = min(self._lowest, z)
            self.has_landed = z < self._lowest + CLIMBED
        elif self._flies and z < self._height:
            self._look(t, 0.0 if wrench_P is None else rotate(quat(x[Q]), vec(wrench_P))[2])
        else:
            self.touched_at = None
        if not self.has_landed:
            return reference
        self._idle.row = reference.row
        return self._idle

    def _average(self, t: float, x: Array, z: float) -> None:
        """Low-pass the state's excess over the reference's height `z` [m], and its velocities."""
        now = np.array([x[P.stop - 1] - z, *x[V], *x[W]])
        dt = np.inf if self._t is None else max(t - self._t, 0.0)
        share = 1.0 if np.isinf(dt) else dt / (dt + TIME_CONSTANT)
        self._means += share * (now - self._means)
        self._t = t

    def _look(self, t: float, lift: float) -> None:
        """Look whether the ground bears the vehicle, of which it may feel a force upwards [N], and for how long."""
        excess, v, w = self._means[0], self._means[1:4], self._means[4:]
        is_borne = excess > MIN_EXCESS or lift > MIN_FORCE * self._weight
        if not (is_borne and v @ v < MAX_SPEED**2 and w @ w < MAX_RATE**2):
            self.touched_at = None
            return
        self.touched_at = t if self.touched_at is None else self.touched_at
        if t - self.touched_at >= STAND_TIME:
            self.has_landed, self._flies, self._lowest = True, False, np.inf
