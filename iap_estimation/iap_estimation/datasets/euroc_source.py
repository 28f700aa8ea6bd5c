# SPDX-License-Identifier: BSD-3-Clause
"""Folders in EuRoC's layout as data sets: one aircraft, distorted stereo images, an inertial unit, no ranges.

``mav0/{cam0,cam1}/{data.csv,sensor.yaml,data/*}``, ``mav0/imu0/{data.csv,sensor.yaml}``, and what is true, if it
is known, in ``state_groundtruth_estimate0``, ``vicon0`` or ``leica0``.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import cv2
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from iap_description import so3
from iap_description.arrays import Array
from iap_description.config import NonNegative, Real, validate
from iap_description.errors import BadInput
from iap_description.plain_yaml import parse_mapping
from iap_description.sensors.sensor_info import Size
from iap_description.text_files import read_text
from iap_estimation.frontend.calibration import PLUMB_BOB, Camera, StereoCalibration, rigid
from iap_estimation.navigation.data import (
    CAMERA_PRESET,
    MEMS,
    AircraftData,
    Dataset,
    Event,
    Gray,
    Images,
    Tally,
    Truth,
)
from iap_estimation.navigation.streams import Clock, Pairing
from iap_estimation.virpo.messages import Inertial
from iap_io.bags.encoded_images import read_image
from iap_io.euroc.euroc_text import transform
from iap_io.euroc.tables import Table, read_table

HOME = "mav0"
OPENCV_HEADER, OPENCV_TAG = "%YAML:1.0", "!!opencv-matrix"  # which are no YAML
TRUTHS = ("state_groundtruth_estimate0", "vicon0", "leica0")
UNIT_TOLERANCE = 0.01  # of true attitudes, which some write with few digits
POSITION, POSE, STATE = 3, 7, 16  # columns of a truth that knows so much


class _Matrix(BaseModel):
    """A matrix of OpenCV's ``FileStorage``, row by row."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    data: tuple[Real, ...]


class _Placed(BaseModel):
    """The key of a sensor's file that says where it is."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    T_BS: _Matrix  # from the sensor's frame to the body

    def place(self, path: Path) -> tuple[Array, Array]:
        """Place (3,) [m] and attitude (4,) on the body.

        Raises:
            BadInput: it is no rigid motion.
        """
        return rigid(self.T_BS.data, f"{path}: key 'T_BS.data'")


class _CameraFile(_Placed):
    """The keys that are read of a camera's file; its frame is the optical one."""

    resolution: tuple[Size, Size]
    camera_model: Literal["pinhole"]
    intrinsics: tuple[Real, Real, Real, Real]  # fu, fv, cu, cv
    distortion_model: Literal["radial-tangential"]
    distortion_coefficients: Annotated[tuple[Real, ...], Field(min_length=4, max_length=5)]


class _ImuFile(_Placed):
    gyroscope_noise_density: NonNegative
    gyroscope_random_walk: NonNegative
    accelerometer_noise_density: NonNegative
    accelerometer_random_walk: NonNegative


def open_euroc(folder: Path) -> Dataset:
    """A folder that is, or holds, a ``mav0``.

    Raises:
        BadInput: a sensor or its calibration is missing or damaged, in one line.
    """
    home = folder if folder.name == HOME else folder / HOME
    for sensor, what in (
        ("imu0", "inertial unit"),
        ("cam0", "left camera"),
        ("cam1", "right camera"),
    ):
        if not (home / sensor / "data.csv").is_file():
            raise BadInput(f"{home}: no {what}: {sensor}/data.csv is missing")
    noise, T_BI, notes = _imu_of(home)
    calibration = read_stereo(home / "cam0" / "sensor.yaml", home / "cam1" / "sensor.yaml")
    tally = Tally()
    imu = read_table(home / "imu0" / "data.csv", 6)
    start = min(int(imu.stamps[0]), int(read_table(home / "cam0" / "data.csv", 0).stamps[0]))
    name = home.parent.name if home.name == HOME else home.name
    pair, truth = on_imu(calibration, T_BI), _truth(home, start, T_BI)
    one = AircraftData(name or "aircraft", pair, noise, truth=truth)
    if one.truth is None:
        notes = (*notes, "nothing says what is true: there are trajectories, no errors")
    events = partial(_events, home, imu, start, tally)
    return Dataset(str(folder), one.name, (one,), start, events, tally, notes, CAMERA_PRESET)


def _imu_of(home: Path) -> tuple[Array, Array, tuple[str, ...]]:
    """Noise densities (4,) and place (4, 4) of the inertial unit, and what the user should know."""
    path = home / "imu0" / "sensor.yaml"
    if path.exists():
        return *read_imu_file(path), ()
    note = f"{path} is missing: a small MEMS unit's noise is taken, at the body's origin"
    return np.array(MEMS), np.eye(4), (note,)


def read_sensor(path: Path) -> dict[str, Any]:
    """Contents of a ``sensor.yaml``, also one with the header and tags of OpenCV's ``FileStorage``.

    Raises:
        BadInput: the file is missing or damaged.
    """
    text = read_text(path).removeprefix(OPENCV_HEADER).replace(OPENCV_TAG, "")
    return parse_mapping(text, source=str(path))


def read_stereo(left: Path, right: Path) -> StereoCalibration:
    """The pair of two files ``sensor.yaml``.

    Raises:
        BadInput: one line that names the file and the key.
    """
    camera, p_BC_B, q_BC = _read_camera(left)
    other, p_BD_B, q_BD = _read_camera(right)
    try:
        return StereoCalibration.of(camera, other, [p_BC_B, p_BD_B], [q_BC, q_BD])
    except BadInput as error:
        raise BadInput(f"{left}, {right}: {error}") from error


def _read_camera(path: Path) -> tuple[Camera, Array, Array]:
    """A camera, its place (3,) [m] and its attitude (4,) on the body."""
    file = validate(_CameraFile, read_sensor(path), source=str(path))
    fu, fv, cu, cv = file.intrinsics
    K = [[fu, 0.0, cu], [0.0, fv, cv], [0.0, 0.0, 1.0]]
    D = file.distortion_coefficients
    camera = Camera.of(file.resolution, K, D, model=PLUMB_BOB, source=str(path))
    return camera, *file.place(path)


def read_imu_file(path: Path) -> tuple[Array, Array]:
    """Noise densities (4,) of an inertial unit as in `AircraftData`, and its place (4, 4) on the body.

    Raises:
        BadInput: the file is missing or damaged.
    """
    file = validate(_ImuFile, read_sensor(path), source=str(path))
    noise = (
        file.gyroscope_noise_density,
        file.accelerometer_noise_density,
        file.gyroscope_random_walk,
        file.accelerometer_random_walk,
    )
    return np.array(noise), transform(*file.place(path))


def on_imu(calibration: StereoCalibration, T_BI: Array) -> StereoCalibration:
    """A pair on the inertial unit, from one on the body."""
    R_BI, p_BI_B = T_BI[:3, :3], T_BI[:3, 3]
    q_IB = so3.quaternion_from_matrix(R_BI.T)
    p_IC_I = (calibration.p_BC_B - p_BI_B) @ R_BI
    q_IC = so3.multiply(np.broadcast_to(q_IB, (2, 4)), calibration.q_BC)
    return StereoCalibration.of(calibration.left, calibration.right, p_IC_I, q_IC)


def _events(home: Path, imu: Table, start: int, tally: Tally) -> Iterator[Event]:
    """Samples, and before the first that is younger, the images; those are read when it is their turn."""
    tally.clear()
    pairs = _pairs(home, start, tally)
    clock, waiting = Clock(str(home / "imu0" / "data.csv"), tally), next(pairs, None)
    for stamp, row in zip(imu.stamps.tolist(), imu.values, strict=True):
        t = (stamp - start) * 1e-9
        while waiting is not None and waiting[0] < t:
            yield 0, _images(*waiting)
            waiting = next(pairs, None)
        if clock.goes_on(t):
            yield 0, Inertial(t, row[:3], row[3:6])
    while waiting is not None:
        yield 0, _images(*waiting)
        waiting = next(pairs, None)


def _pairs(home: Path, start: int, tally: Tally) -> Iterator[tuple[float, Path, Path]]:
    """Times and files of stereo pairs, in order."""
    rows: list[tuple[float, int, Path]] = []
    for side in (0, 1):
        folder = home / f"cam{side}"
        table = read_table(folder / "data.csv", 0)
        clock = Clock(str(folder / "data.csv"), tally)
        for stamp, name in zip(table.stamps.tolist(), table.names, strict=True):
            t = (stamp - start) * 1e-9
            if clock.goes_on(t):
                rows.append((t, side, folder / "data" / name))
    pairing: Pairing[Path] = Pairing(tally)
    for t, side, path in sorted(rows):
        pair = pairing.add(side, t, path)
        if pair is not None:
            yield pair
    pairing.end()


def _images(t: float, left: Path, right: Path) -> Images:
    return Images(t, _read(left), _read(right))


def _read(path: Path) -> Gray:
    try:
        return read_image(path, cv2.IMREAD_GRAYSCALE)
    except ValueError as error:
        raise BadInput(f"{path}: not a readable image: {error}") from error


def _truth(home: Path, start: int, T_BI: Array) -> Truth | None:
    """Ground truth of the inertial unit, from the best source that there is."""
    found = next((home / name for name in TRUTHS if (home / name / "data.csv").is_file()), None)
    if found is None:
        return None
    path = found / "sensor.yaml"
    placed = validate(_Placed, read_sensor(path), source=str(path))
    T_BS = transform(*placed.place(path))
    T_IS: Array = np.linalg.inv(T_BI) @ T_BS
    table = read_table(found / "data.csv", POSITION)
    t = np.asarray((table.stamps - start) * 1e-9, dtype=float)
    if not np.all(np.diff(t) > 0.0):
        raise BadInput(f"{found / 'data.csv'}: stamps go backwards")
    if table.values.shape[1] < POSE:
        poses = np.hstack([table.values[:, :3], np.full((len(t), 4), np.nan)])
        return Truth(t, poses, p_BM_B=T_IS[:3, 3])
    off = np.abs(np.linalg.norm(table.values[:, 3:7], axis=1) - 1.0)
    if off.max() > UNIT_TOLERANCE:
        raise BadInput(
            f"{found / 'data.csv'}: the attitude of row {off.argmax() + 1} is no unit quaternion"
        )
    return _of_poses(t, table.values, T_IS)


def _of_poses(t: Array, values: Array, T_IS: Array) -> Truth:
    """Truth of I, from rows (K, 7 or 16) of S: place, attitude with w first, velocity, biases."""
    q_WS = so3.normalized(np.roll(values[:, 3:7], -1, axis=1))
    q_SI = so3.quaternion_from_matrix(T_IS[:3, :3].T)
    q_WI = so3.multiply(q_WS, np.broadcast_to(q_SI, q_WS.shape))
    arm_W = so3.rotate(q_WI, np.broadcast_to(-T_IS[:3, 3], (len(t), 3)))
    poses = np.hstack([values[:, :3] + arm_W, q_WI])
    has_state = values.shape[1] >= STATE and not T_IS[:3, 3].any()
    known = has_state and bool(values[:, 10:16].any())  # zeros stand for what is not known
    return Truth(
        t,
        poses,
        values[:, 7:10] if has_state else None,
        values[:, 10:16] if known else None,
    )
