# SPDX-License-Identifier: BSD-3-Clause
"""The texts in a data set of EuRoC's layout: heads of its tables, and the YAML beside each of them."""

import numpy as np

from iap_description.arrays import Array
from iap_description.sensors.sensor_info import CameraSensorInfo, ImuInfo

# The beginning of a run, in 2014 as EuRoC's own: readers of such folders take stamp 0 for none, sort names of images as
# texts, and cut a fixed number of digits off them.
EPOCH_NS = 1_400_000_000_000_000_000
LENS_NAMES = {"plumb_bob": "radial-tangential", "equidistant": "equidistant"}  # of models
CAMERA_COLUMNS = "#timestamp [ns],filename\n"
IMU_COLUMNS = (
    "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]\n"
)
TRUTH_COLUMNS = (
    "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [],"
    " q_RS_z [], v_RS_R_x [m s^-1], v_RS_R_y [m s^-1], v_RS_R_z [m s^-1], b_w_RS_S_x [rad s^-1],"
    " b_w_RS_S_y [rad s^-1], b_w_RS_S_z [rad s^-1], b_a_RS_S_x [m s^-2], b_a_RS_S_y [m s^-2],"
    " b_a_RS_S_z [m s^-2]\n"
)


def camera_yaml(meta: CameraSensorInfo, T_BS: Array) -> str:
    """``sensor.yaml`` of a camera; `T_BS` (4, 4) is its place on the inertial unit."""
    fx, _, cx, _, fy, cy = meta.K[:6]
    distortion = list(meta.D[:4]) + [k3 for k3 in meta.D[4:] if k3 != 0.0]  # EuRoC's own have four
    return (
        _head("camera", meta.topic, T_BS)
        + f"rate_hz: {meta.rate:g}\n"
        + f"resolution: [{meta.width}, {meta.height}]\n"
        + "camera_model: pinhole\n"
        + f"intrinsics: {_numbers([fx, fy, cx, cy])} #fu, fv, cu, cv\n"
        + f"distortion_model: {LENS_NAMES[meta.distortion_model]}\n"
        + f"distortion_coefficients: {_numbers(distortion)}\n"
    )


def imu_yaml(meta: ImuInfo, T_BS: Array) -> str:
    """``sensor.yaml`` of an inertial unit."""
    return (
        _head("imu", meta.topic, T_BS)
        + f"rate_hz: {meta.rate:g}\n"
        + f"gyroscope_noise_density: {_number(meta.gyro_noise)} # [ rad / s / sqrt(Hz) ]\n"
        + f"gyroscope_random_walk: {_number(meta.gyro_walk)} # [ rad / s^2 / sqrt(Hz) ]\n"
        + f"accelerometer_noise_density: {_number(meta.accel_noise)} # [ m / s^2 / sqrt(Hz) ]\n"
        + f"accelerometer_random_walk: {_number(meta.accel_walk)} # [ m / s^3 / sqrt(Hz) ]\n"
    )


def truth_yaml(comment: str) -> str:
    """``sensor.yaml`` of the ground truth."""
    return _head("visual-inertial", comment, np.eye(4))


def _head(kind: str, comment: str, T_BS: Array) -> str:
    return (
        f"sensor_type: {kind}\ncomment: {comment}\n"
        f"T_BS:\n  cols: 4\n  rows: 4\n  data: {_numbers(T_BS.ravel().tolist())}\n"
    )


def _numbers(values: list[float]) -> str:
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """A number as every YAML reads it: many take 1e-05 for a text, but 1.0e-05 for a number."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")
