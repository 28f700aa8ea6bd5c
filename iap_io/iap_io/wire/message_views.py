# SPDX-License-Identifier: BSD-3-Clause
"""The messages of the loop (state, reference, command) as arrays that are views of their serialised bytes.

rclpy publishes bytes, and hands them over, as readily as message objects. Making the thirty objects of
one state and filling them takes longer than the physics it reports; a view costs nothing. What lies
where is found by `iap_io.wire.cdr`; field names and units are those of the files in iap_msgs. The
messages of contact are in `iap_io.wire.sample_views`.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import is_unit
from iap_description.errors import BadInput
from iap_description.math.relative import joint_states
from iap_description.states import REF_FIXED, STATE_SIZE, Command, Level, Mode, V
from iap_description.vehicles.assembly import Assembly, Joint
from iap_description.vehicles.gripper import LOAD_SIZE, Load, row_of
from iap_description.vehicles.joint_motion import put_coordinates
from iap_description.vehicles.joint_types import JointType
from iap_io.wire.cdr import MessageLayout, message
from iap_io.wire.message import Message


class StateMessage(Message):
    """PlatformState: every body and joint of a platform, or the objects of a world."""

    TYPE = "iap_msgs/msg/PlatformState"

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._poses, self._twists = self.view("poses"), self.view("twists")
        if not 0 < len(self._poses) == len(self._twists):
            raise BadInput(f"{len(self._poses)} poses and {len(self._twists)} twists")
        self._q, self._w = self.view("joint_positions"), self.view("joint_velocities")
        self._rpm = self.view("rotor_rpm")
        if len(self._rpm) % 4:
            raise BadInput(f"rotor_rpm has {len(self._rpm)} entries, not four for each aircraft")
        self._tilt = self.view("rotor_tilt")
        if len(self._tilt) != len(self._rpm):
            raise BadInput(
                f"{len(self._tilt)} entries in rotor_tilt, {len(self._rpm)} in rotor_rpm"
            )
        self._loads = self.view("loads").reshape(-1, LOAD_SIZE)
        self._rows = np.zeros((len(self._poses), STATE_SIZE))
        self._ends = np.zeros((0, 2), np.int64)
        self._joints: tuple[Joint, ...] = ()  # where not all that move are spherical

    @classmethod
    def of(cls, assembly: Assembly, rotors: int) -> Self:
        """The message of an assembly with so many rotors."""
        joints = assembly.joints
        out = cls.of_names(
            [body.name for body in assembly.bodies],
            [joint.name for joint in joints],
            [joint.kind for joint in joints],
            rotors,
            () if assembly.arm is None else assembly.arm.record.joint_names,
        )
        moving = [joint for joint in joints if joint.kind.is_free]
        if all(joint.kind.turns_freely for joint in moving):
            ends = [(joint.parent, joint.child) for joint in moving]
            out._ends = np.array(ends, np.int64).reshape(-1, 2)
        else:
            out._joints = joints
        return out

    @classmethod
    def of_names(
        cls,
        bodies: Sequence[str],
        joints: Sequence[str] = (),
        kinds: Sequence[JointType] = (),
        rotors: int = 0,
        arm: Sequence[str] = (),
    ) -> Self:
        """The message of named bodies, joints of these kinds, so many rotors, and joints of an arm."""
        return cls._of(
            body_names=list(bodies),
            poses=[message("geometry_msgs/msg/Pose") for _ in bodies],
            twists=[message("geometry_msgs/msg/Twist") for _ in bodies],
            joint_names=[*joints, *arm],
            joint_positions=np.zeros(sum(kind.position_size for kind in kinds) + len(arm)),
            joint_velocities=np.zeros(sum(kind.velocity_size for kind in kinds) + len(arm)),
            rotor_rpm=np.zeros(rotors),
            rotor_tilt=np.zeros(rotors),
            loads=[message("geometry_msgs/msg/Inertia")] if arm else [],
        )

    def put_rows(self, x: Array, rpm: Array, tilt: Array | None = None) -> None:
        """Set bodies from rows (bodies, 13), the joints that follow from them, rotor speeds [rpm] and tilts [rad]."""
        self._poses[:], self._twists[:] = x[:, : V.start], x[:, V.start :]
        self._rpm[:] = rpm.reshape(-1)
        self._tilt[:] = 0.0 if tilt is None else tilt.reshape(-1)
        if len(self._ends):
            free = len(self._ends)
            q, w = self._q[: 4 * free].reshape(-1, 4), self._w[: 3 * free].reshape(-1, 3)
            joint_states(x, self._ends, q, w)
        if self._joints:
            put_coordinates(self._joints, x, self._q, self._w)

    def put_arm(self, q: Array, v: Array, load: Load | None) -> None:
        """Set coordinates and velocities (n,) of the arm's joints, which come last, and what its gripper holds."""
        self._q[-len(q) :], self._w[-len(v) :] = q, v
        self._loads[0] = row_of(load)

    def arm(self, n: int) -> tuple[Array, Array]:
        """Coordinates and velocities (n,) of an arm of n joints; overwritten by the next message.

        Raises:
            BadInput: it has fewer joints.
        """
        if min(self._q.size, self._w.size) < n:
            raise BadInput(f"joint_positions: of {self._q.size} numbers, the arm has {n} joints")
        return self._q[self._q.size - n :], self._w[self._w.size - n :]

    @property
    def arm_load(self) -> Load | None:
        """The load that the arm's gripper reports; None while it holds nothing.

        Raises:
            BadInput: no body is such.
        """
        load = Load.of(self._loads[0]) if len(self._loads) else None
        if load is not None and not load.is_body:
            raise BadInput("loads[0]: no body has such a mass and inertia")
        return load

    @property
    def rows(self) -> Array:
        """State rows (bodies, 13); overwritten by the next message."""
        self._rows[:, : V.start], self._rows[:, V.start :] = self._poses, self._twists
        return self._rows

    @property
    def rpm(self) -> Array:
        """Rotor speeds (N, 4) [rpm]; overwritten by the next message."""
        return self._rpm.reshape(-1, 4)

    @property
    def tilt(self) -> Array:
        """Angles of the rotors about their arms (N, 4) [rad]; overwritten by the next message."""
        return self._tilt.reshape(-1, 4)


class ReferenceMessage(Message):
    """PlatformReference: what a platform shall do."""

    TYPE = "iap_msgs/msg/PlatformReference"
    OPEN = ("aircraft_yaw",)  # NaN where no heading is given

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._level = self.view("level")
        self._parts = [self.view(name) for name in ("pose", "twist", "accel")]
        self.wrench_P, self.aircraft_yaw = self.view("wrench"), self.view("aircraft_yaw")

    @classmethod
    def of(cls, count: int) -> Self:
        """The message of a platform of `count` aircraft."""
        return cls._of(aircraft_yaw=np.zeros(count))

    @property
    def level(self) -> Level:
        """The parts of it that are tracked.

        Raises:
            BadInput: it names none.
        """
        if int(self._level) not in tuple(Level):
            raise BadInput(f"level {self._level} is none of 0 to 3")
        return Level(int(self._level))

    def put_row(self, row: Array, level: int, wrench_P: Array) -> None:
        """Set a reference row (19 + N), its level and its wrench."""
        pose, twist, accel = self._parts
        pose[:], twist[:], accel[:] = row[:7], row[7:13], row[13:REF_FIXED]
        self.aircraft_yaw[:] = row[REF_FIXED:]
        self._level[()], self.wrench_P[:] = level, wrench_P

    def get_row(self, row: Array) -> None:
        """Write the reference into a row (19 + N); headings that it does not give are NaN.

        Raises:
            BadInput: it is for another number of aircraft.
        """
        pose, twist, accel = self._parts
        row[:7], row[7:13], row[13:REF_FIXED] = pose, twist, accel
        count, expected = self.aircraft_yaw.size, row.size - REF_FIXED
        if count not in (0, expected):
            raise BadInput(f"reference: {count} entries in aircraft_yaw, for {expected} aircraft")
        row[REF_FIXED:] = self.aircraft_yaw if count else np.nan


class CommandMessage(Message):
    """PlatformCommand: what each aircraft shall do."""

    TYPE = "iap_msgs/msg/PlatformCommand"
    HAS_ATTITUDES = False  # the mode says whether they count

    def __init__(self, layout: MessageLayout) -> None:
        super().__init__(layout)
        self._mode, self._wrench = self.view("mode"), self.view("wrench")
        self._aircraft = aircraft = self.view("aircraft").reshape(-1, 16)
        self._thrust, self._q_WB = aircraft[:, 0], aircraft[:, 1:5]
        self._w_WB_B, self._rpm = aircraft[:, 5:8], aircraft[:, 8:12]
        self._tilt = aircraft[:, 12:16]

    @classmethod
    def of(cls, count: int) -> Self:
        """The message of a platform of `count` aircraft."""
        return cls._of(aircraft=[message("iap_msgs/msg/AircraftCommand") for _ in range(count)])

    @property
    def mode(self) -> int:
        """Its mode, `iap_description.states.Mode`, which selects the field that counts."""
        return int(self._mode)

    def put(self, command: Command) -> None:
        """Set every field from a command for as many aircraft."""
        self._mode[()], self._wrench[:] = command.mode, command.wrench_P
        self._thrust[:], self._q_WB[:] = command.thrust, command.q_WB
        self._w_WB_B[:], self._rpm[:] = command.w_WB_B, command.rpm
        self._tilt[:] = command.tilt

    def get(self, command: Command) -> None:
        """Write every field into a command.

        Raises:
            BadInput: it is for another number of aircraft, of an unknown mode, or a field holds what cannot be meant.
        """
        if len(self._thrust) != len(command.thrust):
            count, expected = len(self._thrust), len(command.thrust)
            raise BadInput(f"aircraft: for {count} aircraft, the platform has {expected}")
        if int(self._mode) not in tuple(Mode):
            raise BadInput(f"mode {self._mode} is none of 0 to {max(Mode)}")
        if self.mode == Mode.ATTITUDE_THRUST and not all(map(is_unit, self._q_WB)):
            raise BadInput("aircraft: an attitude is no unit quaternion")
        command.mode, command.wrench_P[:] = Mode(int(self._mode)), self._wrench
        command.thrust[:], command.q_WB[:] = self._thrust, self._q_WB
        command.w_WB_B[:], command.rpm[:] = self._w_WB_B, self._rpm
        command.tilt[:] = self._tilt
