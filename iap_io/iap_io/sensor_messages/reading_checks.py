# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of what sensors say: an estimator keeps what it takes."""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER, are_plausible, is_unit
from iap_description.errors import BadInput
from iap_description.sensors.readings import (
    FixReading,
    ImageReading,
    ImuReading,
    MagneticReading,
    PoseReading,
    RangeReading,
    Reading,
    ScalarReading,
)


def check_reading(reading: Reading) -> None:
    """Refuse what no sensor says. What marks the absence of a value, such as NaN in depths, is left as it is.

    Raises:
        BadInput: names the field.
    """
    check = _CHECKS.get(type(reading))
    if check is not None:
        check(reading)


def _check_imu(reading: ImuReading) -> None:
    _expect_plausible("angular_velocity", reading.w_WS_S)
    _expect_plausible("linear_acceleration", reading.f_S)
    if reading.q_WS is not None and not is_unit(reading.q_WS):
        raise BadInput("orientation is no unit quaternion")
    for bias in (reading.gyro_bias, reading.accel_bias):
        if bias is not None:
            _expect_plausible("true_bias", bias)


def _check_magnetic(reading: MagneticReading) -> None:
    _expect_plausible("magnetic_field", reading.field_S)


def _check_scalar(reading: ScalarReading) -> None:
    if not np.isfinite(reading.value):
        raise BadInput(f"the value is {reading.value}")


def _check_fix(reading: FixReading) -> None:
    latitude, longitude, altitude = reading.place
    if not (abs(latitude) <= 90.0 and abs(longitude) <= 180.0 and np.isfinite(altitude)):
        raise BadInput("latitude, longitude and altitude are no place on the Earth")


def _check_pose(reading: PoseReading) -> None:
    _expect_plausible("pose.position", reading.p_WS_W)
    if not is_unit(reading.q_WS):
        raise BadInput("pose.orientation is no unit quaternion")


def _check_ranges(reading: RangeReading) -> None:
    deviations = reading.deviations[reading.valid]
    _expect_plausible("ranges[].range", reading.ranges[reading.valid])
    _expect_plausible("ranges[].standard_deviation", deviations)
    if (deviations < 0.0).any():
        raise BadInput("ranges[].standard_deviation is negative")
    if (np.abs(reading.p_W) > MAX_SI_NUMBER).any():  # NaN is a tag, whose place nobody knows
        raise BadInput(f"ranges[].position is beyond {MAX_SI_NUMBER:.0e}")


def _check_image(reading: ImageReading) -> None:
    if not reading.pixels.size:
        raise BadInput("an image without pixels")


def _expect_plausible(name: str, values: Array) -> None:
    if not are_plausible(values):
        raise BadInput(f"{name} is not finite, or beyond {MAX_SI_NUMBER:.0e}")


_CHECKS: dict[type[Reading], Callable[..., None]] = {
    ImuReading: _check_imu,
    MagneticReading: _check_magnetic,
    ScalarReading: _check_scalar,
    PoseReading: _check_pose,
    FixReading: _check_fix,
    RangeReading: _check_ranges,
    ImageReading: _check_image,
}
