# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a tool pushes what turns about a hinge."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Positive, Real
from iap_learning.tasks.kinds.hinge_turn.observations import TERMS
from iap_learning.tasks.late_sensors import WrenchSensorSpec
from iap_learning.tasks.touch_task import TimedReward, TouchAction, TouchTask

COLUMNS = {"arc_velocity": 3, "cylindrical_velocity": 4}


class TurnSuccess(Record):
    """Demands on a turn; forces are means over a control period.

    Attributes:
        angle_deg: least of the object about its hinge.
        lasting: time for which it is held [s].
        peak: largest force [N].
    """

    angle_deg: Positive
    lasting: Positive
    peak: Positive


class TurnReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        angle: of what the object has turned further, as far as it shall [1/rad].
        force: of the force [1/(N s)].
    """

    angle: Real
    force: Real


class ArcVelocity(TouchAction):
    """Three numbers: velocities of the tip's reference along the arc and away from the axis [m/s]; yaw rate [rad/s].

    The arc is that of the tip about the axis as it is believed, in the direction of positive angles. Kind
    `cylindrical_velocity` has a fourth number before the yaw rate, the velocity along the axis [m/s].
    """

    kind: Literal["arc_velocity", "cylindrical_velocity"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return COLUMNS[self.kind]


class TurnTask(TouchTask):
    """A push on an object of the scenario that has a hinge, until it has turned so far.

    Attributes:
        turned: name of the object.
        sensor: of the wrench that is observed.
        reward: of each step.
        success: demands.
    """

    TERMS = TERMS

    episodes: Literal["hinge_turn"]
    action: ArcVelocity
    turned: str
    sensor: WrenchSensorSpec
    reward: TurnReward
    success: TurnSuccess
