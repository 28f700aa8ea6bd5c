# SPDX-License-Identifier: BSD-3-Clause
"""The check of readings that come in messages: an estimator keeps what it is told, so it must be possible."""

from collections.abc import Callable

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import MAX_SI_NUMBER, are_plausible, is_unit
from iap_description.errors import BadInput
from iap_description.sensors.readings import (
    ImageReading,
    ImuReading,
    MagneticReading,
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


def _imu(reading: ImuReading) -> None:
    _check("angular_velocity", reading.w_WS_S)
    _check("linear_acceleration", reading.f_S)
    if reading.q_WS is not None and not is_unit(reading.q_WS):
        raise BadInput("orientation is no unit quaternion")
    for bias in (reading.gyro_bias, reading.accel_bias):
        if bias is not None:
            _check("true_bias", bias)


def _magnetic(reading: MagneticReading) -> None:
    _check("magnetic_field", reading.field_S)


def _scalar(reading: ScalarReading) -> None:
    if not np.isfinite(reading.value):
        raise BadInput(f"the value is {reading.value}")


def _ranges(reading: RangeReading) -> None:
    deviations = reading.deviations[reading.valid]
    _check("ranges[].range", reading.ranges[reading.valid])
    _check("ranges[].standard_deviation", deviations)
    if (deviations < 0.0).any():
        raise BadInput("ranges[].standard_deviation is negative")
    if (np.abs(reading.p_W) > MAX_SI_NUMBER).any():  # NaN is a tag, whose place nobody knows
        raise BadInput(f"ranges[].position is beyond {MAX_SI_NUMBER:.0e}")


def _image(reading: ImageReading) -> None:
    if not reading.pixels.size:
        raise BadInput("an image without pixels")


def _check(name: str, values: Array) -> None:
    if not are_plausible(values):
        raise BadInput(f"{name} is not finite, or beyond {MAX_SI_NUMBER:.0e}")


_CHECKS: dict[type[Reading], Callable[..., None]] = {
    ImuReading: _imu,
    MagneticReading: _magnetic,
    ScalarReading: _scalar,
    RangeReading: _ranges,
    ImageReading: _image,
}
