# SPDX-License-Identifier: BSD-3-Clause
r"""The state machine of one joint: alignment, approach, assembly, joined, separation (beatle Fig. 7 and its code).

    APART --join--> ALIGNMENT --in line--> APPROACH --met--> ASSEMBLY --waited--> JOINED --part--> SEPARATION --> APART
                        ^                      |
                        +------- lost ---------+      EMERGENCY from any state --> APART, failed

The machine moves a setpoint of the follower in the leader's frame, no faster than the state allows. An approach is lost
where *any* axis is beyond its limit: the authors' code asks for all of them, which practically never happens.
"""

import math
from typing import Self

import numpy as np

from iap_control.modules.exchange import JointState
from iap_control.modules.relative_pose import Misalignment, RelativePose, Setpoint, check_drogue
from iap_control.modules.settings import FACES, MachineSettings, ModulesSpec
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.face_latch import catches
from iap_description.vehicles.latching import Hold, LatchCommand

MOVING = (JointState.ALIGNMENT, JointState.APPROACH, JointState.SEPARATION, JointState.EMERGENCY)


ARRIVED = 0.001  # distance to the end of a way [m]
SETPOINT_DISTANCE = 0.05  # of a follower to its setpoint there [m]


class JointMachine:
    """The states of one joint, updated at the rate of coordination.

    Args:
        name: of the joint.
        normal_L: (3,) out of the leader's face.
        size: of a module between opposite faces [m].
        settings: thresholds.
        joined: whether it is joined from the start.

    Attributes:
        state: the present one.
        setpoint: of the follower, while one is to be followed.
        returns: how often approaches were lost since the order to join.
        failure: why it has ended in an emergency, a sentence; None where it has not.
    """

    def __init__(
        self,
        name: str,
        normal_L: Array,
        size: float,
        settings: MachineSettings,
        *,
        joined: bool = False,
    ) -> None:
        self._name, self._n, self._size, self._s = name, normal_L, size, settings
        self.state = JointState.JOINED if joined else JointState.APART
        self.setpoint = Setpoint.at(np.zeros(3))
        self.returns = 0
        self.failure: str | None = None
        self._since, self._ordered, self._in_line = 0.0, 0.0, 0.0
        self._filtered: RelativePose | None = None
        self._nearest, self._is_caught, self._is_locked = math.inf, joined, joined
        self._flight_end: float | None = None

    @classmethod
    def of(cls, name: str, spec: ModulesSpec) -> Self:
        """The machine of one of the joints between modules."""
        joint = spec.joints[name]
        normal = np.array(FACES[joint.face])
        return cls(name, normal, spec.size, spec.machine, joined=joint.joined)

    @property
    def is_busy(self) -> bool:
        """True if it is on its way from one of joined and apart to the other."""
        return self.state not in (JointState.APART, JointState.JOINED)

    @property
    def holds(self) -> bool:
        """True if its latch holds the modules together."""
        return self._is_caught

    @property
    def hold(self) -> Hold:
        """The hold of its latch."""
        if not self._is_caught:
            return Hold.OPEN
        is_soft = self.state == JointState.ASSEMBLY and not self._is_locked
        return Hold.CAUGHT if is_soft else Hold.LOCKED

    @property
    def guides(self) -> bool:
        """True if the follower is to follow the setpoint now."""
        return self.state in MOVING and not self._is_caught

    @property
    def is_docking(self) -> bool:
        """True if the follower is on its way to the catch."""
        return self.state in (JointState.ALIGNMENT, JointState.APPROACH)

    def join(self, t: float, pose: RelativePose, start_L: Array | None = None) -> None:
        """Begin to dock, from where the follower's reference is in the leader's frame (3,), else from the pose itself.

        Raises:
            BadInput: it is joined already, or on its way.
        """
        self._expect(JointState.APART, "join")
        self._begin(pose)
        if start_L is not None:
            self.setpoint = Setpoint.at(start_L)
        self._ordered, self.returns, self.failure = t, 0, None
        self._enter(JointState.ALIGNMENT, t)

    def close(self, t: float) -> None:
        """Join where the modules are, without any motion: the last joint of a loop; its latch has caught.

        Raises:
            BadInput: it is joined already, or on its way.
        """
        self._expect(JointState.APART, "join")
        self._is_caught, self.failure = True, None
        self._enter(JointState.ASSEMBLY, t)

    def part(self, t: float) -> None:
        """Announce the separation, and begin it.

        Raises:
            BadInput: it is not joined.
        """
        self._expect(JointState.JOINED, "part")
        self._enter(JointState.SEPARATION, t)

    def abort(self, t: float, why: str) -> LatchCommand | None:
        """End whatever it is doing: let go, and fly off."""
        if self.state in (JointState.APART, JointState.EMERGENCY):
            return None
        self.failure = why
        release = LatchCommand.RELEASE if self._is_caught else None
        self._is_caught = False
        self._enter(JointState.EMERGENCY, t)
        return release

    def update(self, t: float, dt: float, pose: RelativePose) -> LatchCommand | None:
        """Go on by one period; returns what the latch is to do now.

        Args:
            t: time [s].
            dt: period [s].
            pose: as measured.
        """
        if self.state == JointState.ALIGNMENT:
            return self._align(t, dt, self._smooth(pose, dt))
        if self.state == JointState.APPROACH:
            return self._approach(t, dt, self._smooth(pose, dt))
        if self.state == JointState.ASSEMBLY:
            return self._assemble(t, pose)
        if self.state == JointState.SEPARATION:
            return self._separate(t, dt, pose)
        if self.state == JointState.EMERGENCY:
            self._flee(t, dt, pose)
        return None

    def misalignment(self, pose: RelativePose) -> Misalignment:
        """Of a pose before the leader's face."""
        return Misalignment.of(pose, self._n, self._size)

    def check_drogue(self, pose: RelativePose) -> None:
        """Refuse a pose at which the drogue cannot take the follower, see `relative_pose.check_drogue`."""
        check_drogue(self._name, self.misalignment(pose), self._s.drogue)

    def _align(self, t: float, dt: float, misalignment: Misalignment) -> LatchCommand | None:
        limits = self._s.alignment
        self._move(self._size + limits.standoff, limits.speed, dt)
        is_in_line = (
            misalignment.largest_offset < limits.offset
            and misalignment.largest_angle < limits.angle
        )
        is_in_line &= misalignment.gap < limits.standoff + limits.offset
        self._in_line = self._in_line + dt if is_in_line else 0.0
        if self._in_line >= limits.hold:
            self._nearest = math.inf
            self._enter(JointState.APPROACH, t)
        return self._lose_patience(t)

    def _approach(self, t: float, dt: float, misalignment: Misalignment) -> LatchCommand | None:
        limits = self._s.approach
        self._move(self._size - limits.press, limits.speed, dt)
        self._nearest = min(self._nearest, misalignment.gap)
        offset, angles = tuple(misalignment.offset), tuple(misalignment.angles)
        if catches(misalignment.gap, offset, angles, limits.catch_limits):
            self._is_caught = True
            self._enter(JointState.ASSEMBLY, t)
            return LatchCommand.CATCH
        is_lost = misalignment.largest_offset > limits.lost_offset
        is_lost |= misalignment.largest_angle > limits.lost_angle
        is_lost |= misalignment.gap > self._nearest + limits.recedes
        return self._try_again(t) if is_lost else self._lose_patience(t)

    def _try_again(self, t: float) -> LatchCommand | None:
        self.returns += 1
        if self.returns > self._s.retries:
            return self.abort(t, f"joint '{self._name}': {self.returns} approaches were lost")
        self._enter(JointState.ALIGNMENT, t)
        return None

    def _lose_patience(self, t: float) -> LatchCommand | None:
        if t - self._ordered <= self._s.patience:
            return None
        why = f"joint '{self._name}': not joined within {self._s.patience:g} s"
        return self.abort(t, why)

    def _assemble(self, t: float, pose: RelativePose) -> LatchCommand | None:
        """Wait until the sticks are in, lock, and wait until all hold still."""
        limits = self._s.assembly
        if self._is_locked or t - self._since < limits.lock:
            if t - self._since >= limits.lock + limits.settle:
                self._enter(JointState.JOINED, t)
            return None
        misalignment = self.misalignment(pose)
        if (
            misalignment.largest_offset > self._s.drogue.offset
            or misalignment.gap > self._s.drogue.gap
        ):
            return self.abort(t, f"joint '{self._name}': the latch did not hold")
        self._is_locked = True
        return LatchCommand.LOCK

    def _separate(self, t: float, dt: float, pose: RelativePose) -> LatchCommand | None:
        limits = self._s.separation
        if t - self._since < limits.announce:
            return None
        if self._is_caught:
            self._is_caught = False
            self.setpoint = Setpoint.at(self._size * self._n)  # where it has been held
            return LatchCommand.RELEASE
        self._move(limits.distance, limits.speed, dt)
        has_arrived = float(self.setpoint.p_LF_L @ self._n) >= limits.distance - ARRIVED
        if has_arrived and float(pose.p_LF_L @ self._n) >= limits.distance - SETPOINT_DISTANCE:
            self._enter(JointState.APART, t)
        return None

    def _flee(self, t: float, dt: float, pose: RelativePose) -> None:
        """Fly off along the axis from where the emergency found the follower."""
        limits = self._s.emergency
        if self._flight_end is None:
            self._begin(pose)
            self._flight_end = float(pose.p_LF_L @ self._n) + limits.distance
        self._move(self._flight_end, limits.speed, dt)
        if float(self.setpoint.p_LF_L @ self._n) >= self._flight_end - ARRIVED:
            self._enter(JointState.APART, t)

    def _move(self, distance: float, speed: float, dt: float) -> None:
        """Let the setpoint go on towards a distance on the axis; off it, straight to that place."""
        goal_L = distance * self._n
        self.setpoint = self.setpoint.towards(goal_L, speed, self._s.acceleration, dt)

    def _smooth(self, pose: RelativePose, dt: float) -> Misalignment:
        share = -np.expm1(-dt / self._s.alignment.filter_time)
        last = self._filtered or pose
        parts = [a + share * (b - a) for a, b in zip(last, pose, strict=True)]
        self._filtered = RelativePose(parts[0], parts[1])
        return self.misalignment(self._filtered)

    def _begin(self, pose: RelativePose) -> None:
        """Let the setpoint begin where the follower is."""
        self._filtered = pose
        self.setpoint = Setpoint.at(pose.p_LF_L)

    def _enter(self, state: JointState, t: float) -> None:
        self.state, self._since, self._in_line = state, t, 0.0
        self._is_locked, self._flight_end = False, None

    def _expect(self, state: JointState, verb: str) -> None:
        if self.state != state:
            raise BadInput(f"{verb} '{self._name}': it is {self.state.value}, not {state.value}")
