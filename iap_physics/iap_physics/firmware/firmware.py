# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of an autopilot's firmware that flies one aircraft, and what goes to and fro.

States and orders go to all firmwares before the first answer is awaited, so that several compute at the same time.
"""

from pathlib import Path
from typing import NamedTuple, Protocol

from iap_description.arrays import Quat, Vec
from iap_description.errors import IapError


class FirmwareFailed(IapError):
    """The firmware cannot fly on.

    Attributes:
        outcome: one word for metrics.json, such as ``firmware_late``.
    """

    def __init__(self, outcome: str, reason: str) -> None:
        """Store the word; `reason` is the sentence for the user."""
        super().__init__(reason)
        self.outcome = outcome


class AircraftMotion(NamedTuple):
    """The motion of an aircraft as its autopilot's sensors have it; body axes are forward, left, up.

    Attributes:
        w_WB_B: angular velocity [rad/s].
        f_B: specific force, (0, 0, g) at rest [m/s^2].
        p_WB_W: position in `map` [m].
        q_WB: attitude, xyzw.
        v_WB_W: velocity [m/s].
    """

    w_WB_B: Vec
    f_B: Vec
    p_WB_W: Vec
    q_WB: Quat
    v_WB_W: Vec


class AttitudeOrder(NamedTuple):
    """An order to the autopilot of one aircraft.

    Attributes:
        has_attitude: whether the attitude counts, and the body rate is fed forward; else the body rate alone.
        q_WB: attitude, xyzw.
        w_WB_B: body rate [rad/s].
        share: of the largest collective thrust, 0 to 1.
        is_armed: whether rotors shall turn.
    """

    has_attitude: bool
    q_WB: Quat
    w_WB_B: Vec
    share: float
    is_armed: bool


class RotorShares(NamedTuple):
    """An answer of a firmware.

    Attributes:
        shares: of each rotor's largest thrust, 0 to 1, in the aircraft's order.
        is_armed: whether rotors turn.
    """

    shares: tuple[float, float, float, float]
    is_armed: bool


class Firmware(Protocol):
    """Firmware of one aircraft's autopilot.

    A user's own is a class that is made with ``(settings, aircraft, number, rng)``: its `FirmwareSettings`, the record
    of the aircraft, the number of the aircraft among all that firmwares fly, and its own generator of noise.

    Attributes:
        boot_time: time at rest, after which it can be armed [s].
        arming_time: longest time from the order to arm until it is armed [s].
    """

    boot_time: float
    arming_time: float

    def begin(self) -> None:
        """Start it, and do not wait for it.

        Raises:
            FirmwareFailed: it cannot be started.
            BadInput: it is not there, or cannot fly this aircraft.
        """

    def connect(self) -> None:
        """Wait until it listens.

        Raises:
            FirmwareFailed: it does not within its time.
        """

    def tell(self, t_ns: int, motion: AircraftMotion, order: AttitudeOrder) -> None:
        """Tell it the motion at a time [ns] since it was started, and what it shall do; never waits."""

    def ask(self) -> RotorShares:
        """Wait for its answer to what it was told last.

        Raises:
            FirmwareFailed: none comes within its time, a wrong one comes, or it has ended.
        """

    def obstacles(self) -> str:
        """Reasons for which it does not arm, as it states them; empty where it states none."""

    def end(self) -> None:
        """End it; a second time is fine."""

    def write(self, folder: Path) -> None:
        """Copy its version, settings and output into a folder that is there."""
