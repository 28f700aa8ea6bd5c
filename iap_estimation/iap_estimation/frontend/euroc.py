# SPDX-License-Identifier: BSD-3-Clause
"""The calibration in an EuRoC folder: ``cam0/sensor.yaml`` and ``cam1/sensor.yaml``."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from iap_description.config import Count, Real, parse_mapping, validate
from iap_description.errors import BadInput
from iap_description.text_files import read_text
from iap_estimation.frontend.calibration import (
    PLUMB_BOB,
    Array,
    Camera,
    StereoCalibration,
    rigid,
)

OPENCV_HEADER, OPENCV_TAG = "%YAML:1.0", "!!opencv-matrix"  # which are no YAML


class _Matrix(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    data: Annotated[tuple[Real, ...], Field(min_length=16, max_length=16)]  # row by row


class _SensorFile(BaseModel):
    """The keys that are read of a camera's file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    T_BS: _Matrix  # from the camera's optical frame to the body
    resolution: tuple[Count, Count]
    camera_model: Literal["pinhole"]
    intrinsics: tuple[Real, Real, Real, Real]  # fu, fv, cu, cv
    distortion_model: Literal["radial-tangential"]
    distortion_coefficients: Annotated[tuple[Real, ...], Field(min_length=4, max_length=5)]


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
    camera, p_BC_B, q_BC = _read(left)
    other, p_BD_B, q_BD = _read(right)
    try:
        return StereoCalibration.of(camera, other, [p_BC_B, p_BD_B], [q_BC, q_BD])
    except BadInput as error:
        raise BadInput(f"{left}, {right}: {error}") from error


def _read(path: Path) -> tuple[Camera, Array, Array]:
    """A camera, its place (3,) [m] and its attitude (4,) on the body."""
    file = validate(_SensorFile, read_sensor(path), source=str(path))
    fu, fv, cu, cv = file.intrinsics
    K = [[fu, 0.0, cu], [0.0, fv, cv], [0.0, 0.0, 1.0]]
    D = file.distortion_coefficients
    camera = Camera.of(file.resolution, K, D, model=PLUMB_BOB, source=str(path))
    return camera, *rigid(file.T_BS.data, f"{path}: key 'T_BS.data'")
