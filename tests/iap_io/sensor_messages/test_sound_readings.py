# SPDX-License-Identifier: BSD-3-Clause
"""Readings of pressure and place as messages, and what no sensor measures, refused by its field."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_sensors import camera, capture, imu, magnetometer, reading, uwb

from iap_description.errors import BadInput
from iap_description.math.geodesy import Geodetic
from iap_description.sensors.readings import FixReading, Reading, ScalarReading, SensorSource
from iap_description.sensors.sensor_info import OtherSensorInfo, SensorInfo
from iap_io.sensor_messages.reading_checks import check_reading
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.sensor_messages.sensor_reader import Decoder
from iap_io.wire.cdr import message_types

CODECS = "iap_io.sensor_messages"


def other(codec: str, **values: float) -> OtherSensorInfo:
    """A sensor of another kind, with the class of its messages."""
    return OtherSensorInfo(
        topic="/iap/drone_1/other", frame="iap/drone_1_other", parent="iap/drone_1", rate=10.0,
        p_BS_B=(0.0, 0.0, 0.0), q_BS=(0.0, 0.0, 0.0, 1.0), codec=f"{CODECS}.{codec}", values=values,
    )  # fmt: skip


FIX = other("fix_codec:FixCodec", horizontal=1.5, vertical=2.5)
PRESSURE = other("scalar_codec:PressureCodec", deviation=3.0)
SOURCE = SensorSource(FIX.topic, FIX.frame)


def test_a_fix_comes_back_with_its_place_and_its_covariance_in_east_north_and_up() -> None:
    fix = FixReading(SOURCE, 12.345, Geodetic(52.516, 13.378, 81.25))
    ((topic, parts),) = encoder(FIX)(fix)
    data = b"".join(parts)
    message = message_types().deserialize_cdr(data, "sensor_msgs/msg/NavSatFix")
    np.testing.assert_allclose(message.position_covariance, np.diag([2.25, 2.25, 6.25]).ravel())
    assert (message.position_covariance_type, message.status.service) == (2, 1)
    assert message.header.frame_id == FIX.frame
    back = Decoder([FIX])(topic, data)
    assert isinstance(back, FixReading)
    assert (back.place, back.t) == (fix.place, pytest.approx(fix.t))


def test_a_pressure_comes_back_with_its_variance() -> None:
    ((topic, parts),) = encoder(PRESSURE)(ScalarReading(SOURCE, 0.5, 101_325.25))
    data = b"".join(parts)
    message = message_types().deserialize_cdr(data, "sensor_msgs/msg/FluidPressure")
    assert (message.fluid_pressure, message.variance) == (101_325.25, 9.0)
    back = Decoder([PRESSURE])(topic, data)
    assert isinstance(back, ScalarReading) and back.value == 101_325.25


def made(meta: SensorInfo) -> Reading:
    """A sound reading of a sensor."""
    return reading(meta, 1.0, np.random.default_rng(3))[0]


FIXED = FixReading(SOURCE, 0.0, Geodetic(10.0, 20.0, 30.0))
RANGES = replace(made(uwb()), valid=np.array([True, False, True]))
SMALL, LARGE = np.full(3, 1e3), np.array([0.0, 1.01e6, 0.0])
NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("sound", "changes", "field"),
    [
        (made(imu()), {"w_WS_S": LARGE}, "angular_velocity"),
        (made(imu()), {"f_S": np.array([np.nan, 0.0, 0.0])}, "linear_acceleration"),
        (made(imu()), {"q_WS": 1.1 * NO_TURN}, "orientation"),
        (made(imu()), {"gyro_bias": LARGE}, "true_bias"),
        (made(imu()), {"accel_bias": LARGE}, "true_bias"),
        (made(magnetometer()), {"field_S": np.array([0.0, 0.0, np.inf])}, "magnetic_field"),
        (ScalarReading(SOURCE, 0.0, 1.0), {"value": np.nan}, "the value is nan"),
        (FIXED, {"place": Geodetic(90.1, 0.0, 0.0)}, "no place on the Earth"),
        (FIXED, {"place": Geodetic(0.0, -180.1, 0.0)}, "no place on the Earth"),
        (FIXED, {"place": Geodetic(0.0, 0.0, np.inf)}, "no place on the Earth"),
        (made(capture()), {"p_WS_W": LARGE}, "pose.position"),
        (made(capture()), {"q_WS": 0.9 * NO_TURN}, "pose.orientation"),
        (RANGES, {"ranges": np.array([1.0, 1.0, np.nan])}, "ranges[].range"),
        (RANGES, {"deviations": np.array([np.inf, 1.0, 1.0])}, "standard_deviation"),
        (RANGES, {"deviations": np.array([1.0, 1.0, -1e-3])}, "standard_deviation is negative"),
        (RANGES, {"p_W": np.array([SMALL, LARGE, SMALL])}, "position is beyond 1e+06"),
        (made(camera()), {"pixels": np.zeros((0, 4), np.uint8)}, "without pixels"),
    ],
)  # fmt: skip
def test_a_reading_that_no_sensor_has_is_refused_by_its_field(
    sound: Reading, changes: dict, field: str
) -> None:
    check_reading(sound)
    with pytest.raises(BadInput) as refused:
        check_reading(replace(sound, **changes))
    assert field in str(refused.value)


@pytest.mark.parametrize(
    ("sound", "changes"),
    [
        (FIXED, {"place": Geodetic(-90.0, 180.0, -400.0)}),
        (RANGES, {"ranges": np.array([0.0, np.nan, 1.0])}),  # the second one is not valid
        (RANGES, {"deviations": np.array([0.0, -1.0, 1.0])}),
        (RANGES, {"p_W": np.array([SMALL, SMALL, [np.nan] * 3])}),  # a tag that flies
        (made(imu()), {"q_WS": None, "gyro_bias": None, "accel_bias": None}),
        (made(capture()), {"p_WS_W": np.array([0.99e6, 0.0, 0.0])}),
    ],
)
def test_a_reading_at_the_edge_is_taken(sound: Reading, changes: dict) -> None:
    check_reading(replace(sound, **changes))


def test_a_message_with_such_a_reading_is_refused() -> None:
    unit = imu()
    sound = made(unit)
    for each, is_sound in ((sound, True), (replace(sound, f_S=LARGE), False)):
        messages = [(topic, b"".join(parts)) for topic, parts in encoder(unit)(each)]
        decode = Decoder([unit])
        if is_sound:
            assert [decode(*each) is None for each in messages] == [True, False]
        else:
            decode(*messages[0])
            with pytest.raises(BadInput, match="linear_acceleration is not finite, or beyond 1e"):
                decode(*messages[1])
