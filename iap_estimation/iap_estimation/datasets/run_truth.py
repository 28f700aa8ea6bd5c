# SPDX-License-Identifier: BSD-3-Clause
"""Ground truth of bodies and inertial units in recorded runs of this suite."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rosbags.rosbag2 import Reader, ReaderError

from iap_description import so3
from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import P, Q, V, W
from iap_estimation.navigation.data import Truth
from iap_io.euroc.euroc_text import transform
from iap_io.runs.column_messages import seconds
from iap_io.runs.run_folder import VehicleRun
from iap_io.wire.cdr import records_of, stamps_of

Array = NDArray[np.float64]
IMU = "sensor_msgs/msg/Imu"


def truth_of(flown: VehicleRun, body: int, imu: ImuInfo | None) -> Truth:
    """Ground truth of a body's inertial unit, or of the body itself."""
    c = flown.columns
    x = c.x[:, body]
    T_BI = np.eye(4) if imu is None else transform(imu.p_BS_B, imu.q_BS)
    arm_W = so3.rotate(x[:, Q], np.broadcast_to(T_BI[:3, 3], (len(x), 3)))
    q_BI = so3.quaternion_from_matrix(T_BI[:3, :3])
    q_WI = so3.multiply(x[:, Q], np.broadcast_to(q_BI, (len(x), 4)))
    return Truth(c.t, np.hstack([x[:, P] + arm_W, q_WI]), x[:, V] + np.cross(x[:, W], arm_W))


def with_biases(truth: Truth, bag: Path, topic: str) -> Truth:
    """The truth with the biases of the last sample that is not younger."""
    try:
        with Reader(bag) as reader:
            chosen = [each for each in reader.connections if each.topic == topic]
            data = [raw for _, _, raw in reader.messages(chosen)] if chosen else []
    except (ReaderError, OSError, ValueError, KeyError, EOFError) as error:
        raise BadInput(f"{bag}: not a readable recording: {error}") from error
    if not data:
        return truth
    rows = records_of(IMU, data)
    biases = np.hstack([rows["angular_velocity"], rows["linear_acceleration"]]).astype(float)
    last = np.searchsorted(seconds(stamps_of(rows["header"])), truth.t, side="right") - 1
    return Truth(truth.t, truth.poses, truth.v_W, biases[np.maximum(last, 0)])
