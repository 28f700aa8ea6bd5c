# SPDX-License-Identifier: BSD-3-Clause
"""Where the tip of a tool or of an arm was, and where it should have been, from a recording."""

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.serial_chain import tip_pose
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import VehicleMeta


def tip_errors_P(vehicle: VehicleMeta, c: Columns) -> Array | None:
    """Errors (K, 3) of the tip in P [m]; None of a vehicle with neither tool nor arm.

    The tip of a tool on the central body counts, else that of the arm, which should be where the commanded joints have
    it on a platform at its reference.
    """
    pose = c.x[:, 0, :7]
    if vehicle.tool_tip_P is not None:
        told_P = here_P = np.array(vehicle.tool_tip_P)
    elif vehicle.arm_chain is not None and c.arm is not None:
        chain, level = vehicle.arm_chain.chain, (np.zeros(3), np.eye(3))
        here_P = np.array([tip_pose(chain, *level, q)[0] for q in c.arm.q])
        told_P = np.array([tip_pose(chain, *level, q)[0] for q in c.arm.target[:, 0]])
    else:
        return None
    there = c.reference[:, P] + so3.rotate(c.reference[:, Q], told_P)
    here = pose[:, P] + so3.rotate(pose[:, Q], here_P)
    return np.asarray(so3.rotate(so3.conjugate(pose[:, Q]), here - there))
