# SPDX-License-Identifier: BSD-3-Clause
"""The files ``sensor.yaml`` of folders in EuRoC's layout: lenses, places and noise."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from iap_description.arrays import Array
from iap_description.config.plain_yaml import parse_mapping
from iap_description.config.record import validate
from iap_description.config.text_files import read_text
from iap_description.config.values import NonNegative, Real
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.so3 import transform
from iap_description.sensors.lens import Lens
from iap_description.sensors.sensor_info import Size
from iap_estimation.datasets.noise_densities import DENSITIES, plausible
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration, rigid

_NO_PLACE = "the camera's place on the inertial unit (T_BS) is not in it"
OTHER_TOOLS = {  # keys that their files have, and what is otherwise in them
    "cam0": "Kalibr: T_BS is the inverse of a camera's T_cam_imu, distortion_coefficients its distortion_coeffs",
    "imu0": "Kalibr: its densities and walks are those of EuRoC's imu0/sensor.yaml, T_BS the identity",
    "camera_matrix": f"ROS (camera_info): intrinsics are four numbers of camera_matrix; {_NO_PLACE}",
    "projection_parameters": f"VINS: intrinsics are its projection_parameters; {_NO_PLACE}, but in body_T_cam0",
    "body_T_cam0": "VINS: T_BS is its body_T_cam0, and intrinsics are in the files that it names",
    "Camera.fx": "ORB-SLAM: intrinsics are its fx, fy, cx, cy; T_BS is its Tbc",
    "Camera1.fx": "ORB-SLAM3: intrinsics are its fx, fy, cx, cy; T_BS is its IMU.T_b_c1",
    "Camera.type": "ORB-SLAM: intrinsics are its fx, fy, cx, cy; T_BS is its Tbc",
    **dict.fromkeys(
        ("K1", "M1", "K", "cameraMatrix"),
        f"OpenCV: intrinsics are four numbers of its matrix; {_NO_PLACE}",
    ),
}
OPENCV_HEADER, OPENCV_TAG = "%YAML:1.0", "!!opencv-matrix"  # which are no YAML


class _Matrix(BaseModel):
    """A matrix of OpenCV's ``FileStorage``, row by row."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    data: tuple[Real, ...]


class _MountFile(BaseModel):
    """The key of a sensor's file that says where it is."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    T_BS: _Matrix  # from the sensor's frame to the body

    def place(self, path: Path) -> tuple[Array, Array]:
        """Place (3,) [m] and attitude (4,) on the body.

        Raises:
            BadInput: it is no rigid motion.
        """
        return rigid(self.T_BS.data, f"{path}: key 'T_BS.data'")


class _CameraFile(_MountFile):
    """The keys that are read of a camera's file; its frame is the optical one."""

    resolution: tuple[Size, Size]
    camera_model: Literal["pinhole"]
    intrinsics: tuple[Real, Real, Real, Real]  # fu, fv, cu, cv
    distortion_model: str
    distortion_coefficients: Annotated[tuple[Real, ...], Field(max_length=14)]


class _ImuFile(_MountFile):
    gyroscope_noise_density: NonNegative
    gyroscope_random_walk: NonNegative
    accelerometer_noise_density: NonNegative
    accelerometer_random_walk: NonNegative


def read_sensor(path: Path) -> dict[str, Any]:
    """Contents of a ``sensor.yaml``, also one with the header and tags of OpenCV's ``FileStorage``.

    Raises:
        BadInput: the file is missing or damaged.
    """
    text = read_text(path).removeprefix(OPENCV_HEADER).replace(OPENCV_TAG, "")
    tree = parse_mapping(text, source=str(path))
    tool = next((words for key, words in OTHER_TOOLS.items() if key in tree), None)
    if tool is not None and "T_BS" not in tree:
        raise BadInput(f"{path}: it is a calibration of {tool}; expected is EuRoC's sensor.yaml")
    return tree


def read_place(path: Path) -> Array:
    """Place (4, 4) of a sensor on the body.

    Raises:
        BadInput: the file is missing or damaged.
    """
    return transform(*validate(_MountFile, read_sensor(path), source=str(path)).place(path))


def read_cameras(files: Sequence[Path]) -> StereoCalibration:
    """The left and the right camera of two files ``sensor.yaml``, or of one file the only camera.

    Raises:
        BadInput: one line that names the file and the key.
    """
    cameras, positions, turns = zip(*map(_read_camera, files), strict=True)
    if len(files) == 1:
        return StereoCalibration.single(cameras[0], positions[0], turns[0])
    try:
        return StereoCalibration.of(cameras[0], cameras[1], positions, turns)
    except BadInput as error:
        raise BadInput(f"{', '.join(map(str, files))}: {error}") from error


def _read_camera(path: Path) -> tuple[CameraCalibration, Array, Array]:
    """A camera, its place (3,) [m] and its attitude (4,) on the body."""
    file = validate(_CameraFile, read_sensor(path), source=str(path))
    fu, fv, cu, cv = file.intrinsics
    K = [[fu, 0.0, cu], [0.0, fv, cv], [0.0, 0.0, 1.0]]
    D = file.distortion_coefficients
    Lens.of(
        file.distortion_model,
        D,
        source=f"{path}: keys 'distortion_model' and 'distortion_coefficients'",
    )
    camera = CameraCalibration.of(
        file.resolution, K, D, model=file.distortion_model, source=str(path)
    )
    return camera, *file.place(path)


def read_imu_file(path: Path) -> tuple[Array, Array, str | None]:
    """Noise densities (4,) of an inertial unit as in `AircraftData`, its place (4, 4) on the body, and a note on them.

    Raises:
        BadInput: the file is missing or damaged.
    """
    file = validate(_ImuFile, read_sensor(path), source=str(path))
    values = np.array([getattr(file, density.key) for density in DENSITIES])
    noise, note = plausible(values, str(path))
    return noise, transform(*file.place(path)), note


def on_imu(calibration: StereoCalibration, T_BI: Array) -> StereoCalibration:
    """Cameras on the inertial unit, from those on the body."""
    R_BI, p_BI_B = T_BI[:3, :3], T_BI[:3, 3]
    q_IB = so3.quaternion_from_matrix(R_BI.T)
    p_IC_I = (calibration.p_BC_B - p_BI_B) @ R_BI
    q_IC = so3.multiply(np.broadcast_to(q_IB, (2, 4)), calibration.q_BC)
    return replace(calibration, p_BC_B=p_IC_I, q_BC=so3.normalized(q_IC))
