# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a tool slides along a wall."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import NonNegative, NonNegativeCount, Positive, Real
from iap_learning.tasks.kinds.slide_along_wall.observations import TERMS
from iap_learning.tasks.late_sensors import WrenchSensorSpec
from iap_learning.tasks.touch_task import TimedReward, TouchAction, TouchTask

COLUMNS = 3


class SlideSuccess(Record):
    """Demands on a slide; forces are means over a control period.

    Attributes:
        length: of the path along the wall [m].
        run_in: beginning of the path that does not count [m].
        force_rmse: largest from the desired force, over the rest of the path [N].
        path_rmse: largest of the tip from the path, across it, likewise [m].
        peak: largest force [N].
        losses: most losses of contact.
    """

    length: Positive
    run_in: NonNegative
    force_rmse: Positive
    path_rmse: Positive
    peak: Positive
    losses: NonNegativeCount


class SlideReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        progress: of new path [1/m].
        error: of the force's error, at most the desired force [1/(N s)].
    """

    progress: Real
    error: Real


class WallVelocity(TouchAction):
    """Three numbers: velocities of the tip's reference towards the wall, along the path and across both [m/s]."""

    kind: Literal["wall_velocity"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return COLUMNS


class SlideTask(TouchTask):
    """A slide along an object of the scenario, level, and to the left of who faces it.

    The force is that of the scenario's key `push`, along one axis of P.

    Attributes:
        wall: name of the object.
        sensor: of the wrench that is observed.
        reward: of each step.
        success: demands.
    """

    TERMS = TERMS

    episodes: Literal["slide_along_wall"]
    action: WallVelocity
    wall: str
    sensor: WrenchSensorSpec
    reward: SlideReward
    success: SlideSuccess
