# SPDX-License-Identifier: BSD-3-Clause
"""What wrench control is asked for, and which wrenches a platform can be asked for."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from iap_control.model import PlatformModel
from iap_description.errors import BadInput

Array = NDArray[np.float64]
AXES = ("x", "y", "z", "roll", "pitch", "yaw")
ALONG = 1e-6  # cosine between the joints' line and an axis below which the two are perpendicular


class ForceMode(IntEnum):
    """How the wrench is controlled; the values are those of iap_msgs/ForceTask."""

    NONE = 0  # it is not: pose control only
    PAPER = 1  # pose and wrench errors add up on every axis, iap_simulator eq. (21)
    SELECTIVE = 2  # the wrench on the chosen axes, the pose on the others


@dataclass
class ForceTask:
    """The wrench of the environment on the platform that is wanted at one instant.

    Attributes:
        mode: how it is controlled.
        measured_P: (6,) what is measured or estimated of it, about P's origin in P [N, N m].
        desired_P: (6,) what it shall be.
        axes: (6,) of x y z roll pitch yaw in P, those of the wrench in the selective mode; bool.
        pose_integral_P: (6,) share of the pose errors' integral in the active wrench, written by the controller.
        wrench_integral_P: (6,) share of the wrench errors' integral, written by the controller.
    """

    mode: ForceMode
    measured_P: Array
    desired_P: Array
    axes: NDArray[np.bool_]
    pose_integral_P: Array = field(default_factory=lambda: np.zeros(6))
    wrench_integral_P: Array = field(default_factory=lambda: np.zeros(6))


def check_axes(model: PlatformModel, axes: NDArray[np.bool_], vehicle_name: str) -> None:
    """Refuse a wrench on axes (6,) that a platform cannot push along or turn about at will.

    Raises:
        BadInput: naming axis and vehicle.
    """
    for i in np.flatnonzero(axes):
        if model.actuation == "rigid":
            why = "without spherical joints tilts to push"
        elif model.actuation == "collinear" and i >= 3 and abs(model.line_P[i - 3]) > ALONG:
            why = "with its joints on a line cannot turn about it"
        else:
            continue
        raise BadInput(
            f"vehicle '{vehicle_name}': axis '{AXES[i]}': a platform {why}, "
            "so that no wrench can be asked for there"
        )
