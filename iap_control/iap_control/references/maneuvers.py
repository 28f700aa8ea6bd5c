# SPDX-License-Identifier: BSD-3-Clause
"""Maneuvers that somebody asks for in flight: take off, land, go to a place, fly through points in time.

Each is a timeline that begins now.

Ways are quintics from the present motion to rest. They take as long as is asked for, or longer where the platform
could not follow: accelerations stay within limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from iap_control.references.landing import FLARE_HEIGHT, SPIN_UP, descent
from iap_control.references.rows import hold
from iap_control.references.timeline import Leads, Timeline
from iap_control.references.timeline_parts import TimelinePart, level_at, reversed_approach
from iap_control.references.waypoints import path_through
from iap_control.responders.pose_stream import InputLimits
from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible
from iap_description.errors import BadInput
from iap_description.math import euler, so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q
from iap_io.trajectories.messages import Sample

MAX_DURATION = 3600.0  # of a way [s]
SAMPLES = 65  # of a way, whose accelerations are looked at
QUINTIC_PEAK = 10.0 / math.sqrt(
    3.0
)  # acceleration of a quintic from rest to rest, per way and duration^-2
GROWTH = 1.1  # of a duration that was too short
ROUNDING = 1e-6  # of a count of periods
AT_START = 1.05  # of the acceleration at which a way begins, which it may have for that reason


@dataclass(frozen=True)
class Maneuvers:
    """Plans maneuvers of a platform.

    Attributes:
        leads: of its flight: the height at which it stands on the ground, if it may stand there, and its mass.
        dt: control period [s].
        mount_yaw: (N,) of each aircraft in P, which with the platform's yaw makes its heading [rad].
        aircraft_yaw: (N,) headings that it has instead [rad].
        limits: of accelerations.
    """

    leads: Leads
    dt: float
    mount_yaw: Array
    aircraft_yaw: Array | None = None
    limits: InputLimits = field(default_factory=InputLimits)

    def take_off(self, now: Array, height: float, duration: float) -> Timeline:
        """Straight up or down to a height [m], level; from the ground after the rotors have spun up.

        Args:
            now: (19+) the reference from which it begins.
            height: z of P's origin [m].
            duration: of the way [s].

        Raises:
            BadInput: the height is below the ground, or a number makes no sense.
        """
        ground, start, first = self.leads.ground_height, now[:REF_FIXED], []
        if ground is not None and start[REF_P.stop - 1] <= ground:
            start = level_at(start, ground)
            first = [TimelinePart(round(SPIN_UP / self.dt), lambda k: hold(start, len(k)))]
        goal = self._above_ground(level_at(start, height))
        return self._timeline([*first, self._way(start, goal, duration)])

    def land(self, now: Array, height: float, duration: float) -> Timeline:
        """Straight down to a height [m], from there slowly into the ground, where a `LandDetector` ends the rotors.

        Args:
            now: (19+) the reference from which it begins.
            height: z of P's origin from which it sinks slowly [m]; near the ground it does so in any case.
            duration: of the way to that height [s].

        Raises:
            BadInput: this flight may not stand on the ground, or a number makes no sense.
        """
        ground = self.leads.ground_height
        if ground is None:
            raise BadInput(
                "this flight does not end on the ground (its start is hover, not ground)"
            )
        start = now[:REF_FIXED]
        low = level_at(start, max(height, ground + FLARE_HEIGHT))
        down = self._way(start, low, duration)
        return self._timeline([down, *descent(low, ground, self.leads.mass, self.dt)])

    def go_to(
        self, now: Array, goal: Array, yaw: float, duration: float, *, relative: bool
    ) -> Timeline:
        """To a place and a heading, level.

        Args:
            now: (19+) the reference from which it begins.
            goal: (3,) of P's origin [m].
            yaw: heading [rad].
            duration: of the way [s].
            relative: whether goal and yaw are added to those of `now`.

        Raises:
            BadInput: the goal is below the ground, or a number makes no sense.
        """
        _check_plausible(np.append(goal, yaw))
        start = now[:REF_FIXED]
        end = level_at(start, float(start[REF_P.stop - 1]))
        if relative:
            goal = start[REF_P] + goal
            yaw += euler.rpy_from_matrix(so3.matrix_from_quaternion(start[REF_Q]))[2]
        end[REF_P] = goal
        end[REF_Q] = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
        return self._timeline([self._way(start, self._above_ground(end), duration)])

    def follow(self, now: Array, points: list[Sample]) -> Timeline:
        """Through poses in time; the last one is held.

        Args:
            now: (19+) the reference from which it begins.
            points: of `read_trajectory`.

        Raises:
            BadInput: it goes below the ground, or asks for more than aircraft can do.
        """
        for point in points:
            self._above_ground(np.array(point.p))
        rows, duration = path_through(now[:REF_FIXED], points, self.dt)
        count = max(1, math.ceil(duration / self.dt - ROUNDING))
        return self._timeline([TimelinePart(count, lambda k: rows((k + 1.0) * self.dt))])

    def _above_ground(self, goal: Array) -> Array:
        """A goal that is not below where the platform stands.

        Raises:
            BadInput: it is.
        """
        ground, z = self.leads.ground_height, float(goal[REF_P.stop - 1])
        if ground is not None and z < ground:
            raise BadInput(f"z = {z:g} m is below {ground:g} m, where the platform stands")
        return goal

    def _way(self, start: Array, goal: Array, duration: float) -> TimelinePart:
        """From a moving row to rest at a goal, (19,) each, within a duration [s] or as soon as limits allow.

        Raises:
            BadInput: a number makes no sense.
        """
        _check_plausible(goal)
        if not 0.0 <= duration <= MAX_DURATION:
            raise BadInput(f"duration: {duration:g} s, must be from 0 to {MAX_DURATION:g} s")
        most = self.limits.acceleration, self.limits.angular_acceleration
        parts = REF_A, REF_ALPHA
        now = [AT_START * float(np.linalg.norm(start[part])) for part in parts]
        bounds = [max(pair) for pair in zip(most, now, strict=True)]
        duration = max(duration, self.dt, self._from_rest(start, goal))
        while True:
            way = reversed_approach(goal, start, duration, self.dt)
            rows = way.made(np.linspace(-1.0, way.count - 1.0, SAMPLES))  # with the start
            sizes = [float(np.linalg.norm(rows[:, part], axis=1).max()) for part in parts]
            if all(size <= bound for size, bound in zip(sizes, bounds, strict=True)):
                return way
            if duration > MAX_DURATION:
                raise BadInput(f"the way takes more than {MAX_DURATION:g} s")
            duration *= GROWTH

    def _from_rest(self, start: Array, goal: Array) -> float:
        """Duration of a quintic between two poses at rest, at the limits of acceleration [s]."""
        turn = so3.quaternion_log(so3.multiply(so3.conjugate(start[REF_Q]), goal[REF_Q]))
        linear = float(np.linalg.norm(goal[REF_P] - start[REF_P])) / self.limits.acceleration
        angular = float(np.linalg.norm(turn)) / self.limits.angular_acceleration
        return math.sqrt(QUINTIC_PEAK * max(linear, angular))

    def _timeline(self, parts: Sequence[TimelinePart]) -> Timeline:
        count = sum(part.count for part in parts)
        window = 0.0, (count - 1) * self.dt
        line = Timeline(tuple(parts), count, window, 0.0, self.dt)
        return line.placed(np.zeros(3), self.mount_yaw, self.aircraft_yaw)


def _check_plausible(numbers: Array) -> None:
    """Refuse numbers that nobody can mean.

    Raises:
        BadInput: one is not finite, or beyond all bounds.
    """
    if not are_plausible(numbers):
        raise BadInput("a height, place or heading is no number, or beyond all bounds")
