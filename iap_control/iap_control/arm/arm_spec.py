# SPDX-License-Identifier: BSD-3-Clause
"""Task of an arm in a flight: key ``arm`` of a vehicle."""

from typing import Annotated, Literal

from pydantic import Discriminator, Tag

from iap_control.arm.motions import ArmWaypoints, ExternalMotion, HoldMotion, SwingMotion
from iap_control.arm.tip_guidance import TipPath
from iap_control.arm.tip_stick import TipStick
from iap_control.arm.tip_velocities import TipVelocities
from iap_description.config.record import Record, type_of
from iap_description.config.values import Count, Flag, NonNegative

Tagged = (
    Annotated[HoldMotion, Tag("hold")]
    | Annotated[SwingMotion, Tag("swing")]
    | Annotated[ArmWaypoints, Tag("trajectory")]
    | Annotated[ExternalMotion, Tag("external")]
    | Annotated[TipPath, Tag("tip_path")]
    | Annotated[TipStick, Tag("tip_stick")]
    | Annotated[TipVelocities, Tag("tip_velocities")]
)
ArmMotion = Annotated[Tagged, Discriminator(type_of)]


class ArmPlan(Record):
    """An arm's part of a flight, as controller_node takes it.

    Attributes:
        spec: what it does.
        lead: when the motion begins [s].
        last: number of the last control instant.
    """

    spec: "ArmSpec"
    lead: NonNegative
    last: Count


class ArmSpec(Record):
    """Task of an arm in a flight, and its platform's controller's knowledge of it."""

    motion: ArmMotion
    feed_forward: Literal[
        "none", "com", "inertia"
    ]  # none of it, CoM and inertia of its pose, and what moves it, too
    # whether the motors are told the torques that hold the links against gravity, and the tip against what a platform
    # under wrench control feels
    holding: Flag
