# SPDX-License-Identifier: BSD-3-Clause
"""Keys of tasks in which a rod is pushed into a bore."""

from typing import Literal

from iap_description.config.record import Record
from iap_description.config.values import Positive, Real
from iap_learning.tasks.kinds.peg_in_hole.observations import TERMS
from iap_learning.tasks.late_sensors import WrenchSensorSpec
from iap_learning.tasks.touch_task import TimedReward, TouchAction, TouchTask

COLUMNS = 5


class PegSuccess(Record):
    """Demands on a peg; forces are means over a control period.

    Attributes:
        depth: of the tip in the bore, at the end [m].
        lasting: length of that end [s].
        steady: largest mean force over that end [N].
        peak: largest force [N].
    """

    depth: Positive
    lasting: Positive
    steady: Positive
    peak: Positive


class PegReward(TimedReward):
    """Rewards of a step; what costs has a negative weight.

    Attributes:
        depth: of what the tip has gone deeper, as far as it shall go [1/m].
        force: of the force [1/(N s)].
        peak: of what the largest force has grown by [1/N].
        stay: of the time at the depth [1/s].
    """

    depth: Real
    force: Real
    peak: Real
    stay: Real


class TipTwist(TouchAction):
    """Five numbers: the velocity of the tip's reference in axes of P [m/s], and its turn about y and z of P [rad/s]."""

    kind: Literal["tip_twist"]

    @property
    def columns(self) -> int:
        """Number of columns."""
        return COLUMNS


class PegTask(TouchTask):
    """A rod that is pushed into the funnel of a scenario, along -x of P.

    Attributes:
        hole: name of the funnel.
        sensor: of the wrench that is observed.
        reward: of each step.
        success: demands at an episode's end.
    """

    TERMS = TERMS

    episodes: Literal["peg_in_hole"]
    action: TipTwist
    hole: str
    sensor: WrenchSensorSpec
    reward: PegReward
    success: PegSuccess
