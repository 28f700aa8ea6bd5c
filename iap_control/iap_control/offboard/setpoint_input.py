# SPDX-License-Identifier: BSD-3-Clause
"""Set-points of an outside controller: the one that is in force, and when an autopilot takes it for lost."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from iap_control.offboard.aircraft_setpoint import AircraftSetpoint, MotionSetpoint, Outlet
from iap_description.arrays import Array

Setpoint = AircraftSetpoint | MotionSetpoint


class Inlet(NamedTuple):
    """A topic, relative to the aircraft's namespace, and the type of its messages."""

    topic: str
    msgtype: str


class Reading(NamedTuple):
    """The meaning of a message.

    Attributes:
        setpoint: that is in force from now on; None while there is none of the kind that counts.
        keeps_alive: whether the autopilot takes the message for a sign of life of its controller.
    """

    setpoint: Setpoint | None
    keeps_alive: bool


class SetpointReader(Protocol):
    """Reads the messages of set-points of one aircraft, of one kind of autopilot: the reverse of `SetpointMessages`.

    Attributes:
        inlets: all that is heard.
        outlets: all that may be published of the aircraft's motion.
    """

    inlets: Sequence[Inlet]
    outlets: Sequence[Outlet]

    def read(self, inlet: Inlet, message: Any) -> Reading:  # noqa: ANN401 - of the autopilot's package
        """The meaning of a message of an inlet.

        Raises:
            BadInput: it cannot be flown; nothing has changed.
        """
        ...

    def motion(self, x: Array, stamp: int) -> Sequence[Outlet]:
        """Messages of a state row `x` (13,) at a stamp [ns] by the clock of ROS, as the autopilot publishes them."""
        ...


class SetpointInput:
    """Set-points that come in messages, with the time-out of an autopilot, such as PX4's COM_OF_LOSS_T.

    Args:
        reader: of the messages.
        loss_time: without a sign of life after which the controller is lost [s].

    Attributes:
        is_lost: whether it has been there, and is lost.
    """

    def __init__(self, reader: SetpointReader, loss_time: float) -> None:
        self._reader, self._loss_time = reader, loss_time
        self._setpoint: Setpoint | None = None
        self._alive: float | None = None  # time of the last sign of life
        self.is_lost = False

    def take(self, inlet: Inlet, message: Any, t: float) -> Setpoint | None:  # noqa: ANN401
        """Take a message that came at a time [s]; returns the set-point that is in force.

        Raises:
            BadInput: it cannot be flown; nothing has changed.
        """
        self._setpoint, keeps_alive = self._reader.read(inlet, message)
        if keeps_alive:
            self._alive = t
        return self._setpoint

    def at(self, t: float) -> Setpoint | None:
        """The set-point in force at a time [s]; None while there is none, or the controller is lost.

        A time before the last sign of life is that of a simulation that began anew.
        """
        if self._alive is None:
            return None
        if t < self._alive:
            self._alive = t
        self.is_lost = t - self._alive > self._loss_time
        return None if self.is_lost else self._setpoint
