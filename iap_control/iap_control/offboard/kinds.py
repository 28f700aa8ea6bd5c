# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of messages of autopilots: a new one is a module, and a line here."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from iap_control.offboard.aircraft_setpoint import Classes, SetpointMessages
from iap_control.offboard.mavros import MavrosReader, MavrosSetpoints
from iap_control.offboard.px4 import Px4Reader, Px4Setpoints
from iap_control.offboard.setpoint_input import SetpointReader
from iap_description.errors import BadInput


class OffboardKind(NamedTuple):
    """A kind of messages.

    Attributes:
        make: makes the messages of one aircraft.
        read: makes the reader of the same messages.
        remedy: what installs their package.
    """

    make: Callable[[Classes], SetpointMessages]
    read: Callable[[Classes], SetpointReader]
    remedy: str


Made = TypeVar("Made")
KINDS: Mapping[str, OffboardKind] = {
    "px4": OffboardKind(
        Px4Setpoints,
        Px4Reader,
        "build github.com/PX4/px4_msgs of your PX4's release, or apt install ros-$ROS_DISTRO-px4-msgs if it is of that",
    ),
    "mavros": OffboardKind(
        MavrosSetpoints, MavrosReader, "apt install ros-$ROS_DISTRO-mavros-msgs"
    ),
}


def make_messages(kind: str, classes: Classes) -> SetpointMessages:
    """The messages of one aircraft, of a kind of `KINDS`.

    Raises:
        BadInput: their package is not installed.
    """
    return _made(kind, KINDS[kind].make, classes)


def make_reader(kind: str, classes: Classes) -> SetpointReader:
    """The reader of the same messages.

    Raises:
        BadInput: their package is not installed.
    """
    return _made(kind, KINDS[kind].read, classes)


def _made(kind: str, make: Callable[[Classes], Made], classes: Classes) -> Made:
    try:
        return make(classes)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"parameter autopilot: '{kind}' needs a package that is not installed ({error}): {KINDS[kind].remedy}"
        ) from error
