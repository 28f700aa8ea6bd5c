# SPDX-License-Identifier: BSD-3-Clause
"""The parameters that give a set-point's thrust, a share of the largest, its newtons."""

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import Platform
from iap_io.ros.node import SuiteNode


def declared_thrusts(node: SuiteNode, platform: Platform, assembly: Assembly) -> list[float]:
    """Declare what a thrust of 1 stands for; returns it for each aircraft [N].

    With the share in hover that an autopilot knows, PX4's MPC_THR_HOVER, it is the weight that an aircraft carries, an
    equal part of the platform's, by that share.

    Raises:
        BadInput: both parameters are set.
    """
    what = "Thrust that a set-point of 1 stands for [N]; 0: the largest of the aircraft."
    largest = node.parameter("thrust_max", 0.0, what, limits=(0.0, 1e6))
    what = "Set-point in hover, PX4's MPC_THR_HOVER, which stands for the weight; 0: thrust_max counts."
    hover = node.parameter("hover_thrust", 0.0, what, limits=(0.0, 1.0))
    if largest and hover:
        raise BadInput("parameters thrust_max, hover_thrust: one of them alone may be set")
    if hover:
        return [assembly.mass * GRAVITY / platform.count / hover] * platform.count
    return [largest or aircraft.thrust_limits[1] for aircraft in platform.fleet]
