# SPDX-License-Identifier: BSD-3-Clause
"""Keys of firmwares that are left out, and the noise and sticks that autopilots get."""

import re
from pathlib import Path

import numpy as np
import pytest

from iap_description.math import so3
from iap_physics.firmware.firmware import AircraftMotion, AttitudeOrder
from iap_physics.firmware.sensor_noise import BLOCK, SensorNoise
from iap_physics.firmware.settings import ArduPilotSettings, BetaflightSettings, Px4Settings
from iap_physics.firmware.stick_angles import stick_angles

PAGE = (Path(__file__).parents[3] / "docs/how_to/firmware.md").read_text(encoding="utf-8")
LEVEL = (0.0, 0.0, 0.0, 1.0)


def said_of(key):
    """The default that the page has for a key."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{key}`")]
    return line.split("|")[-2].strip()


@pytest.mark.parametrize(
    ("settings", "first", "keys"),
    [
        (BetaflightSettings(), "firmware.rate_hz", {"rate_hz": 1000.0}),
        (ArduPilotSettings(), "firmware.rate_hz", {"rate_hz": 1000.0}),
        (BetaflightSettings(), "firmware.deadline", {"deadline": 5.0}),
        (BetaflightSettings(), "firmware.start_within", {"start_within": 30.0}),
        (BetaflightSettings(), "firmware.gyro_noise", {"gyro_noise": 0.01}),
        (BetaflightSettings(), "firmware.accelerometer_noise", {"accelerometer_noise": 0.05}),
        (ArduPilotSettings(), "firmware.stick_port", {"stick_port": 5501.0}),
        (BetaflightSettings(), "firmware.yaw_gain", {"yaw_gain": 2.5}),
        (ArduPilotSettings(), "firmware.yaw_gain", {"yaw_gain": 2.5}),
        (
            Px4Settings(),
            "firmware.magnetometer_noise",
            {"magnetometer_noise": 4e-7, "barometer_noise": 2.0},
        ),
        (
            Px4Settings(),
            "firmware.position_noise",
            {"position_noise": 0.05, "velocity_noise": 0.05},
        ),
    ],
)
def test_numbers_of_the_page_stand_for_keys_that_are_left_out(settings, first, keys):
    shown = [float(each) for each in re.findall(r"[\d.e-]+", said_of(first))][: len(keys)]
    assert shown == list(keys.values())
    assert {key: getattr(settings, key) for key in keys} == keys


def test_px4_and_ardupilot_have_their_own_rate_and_times_and_the_probe_is_flown():
    assert said_of("firmware.rate_hz") == "1000; PX4: 250"
    assert said_of("firmware.boot_time") == "PX4: 20, 10; ArduPilot: 30, 10"
    px4, ardupilot = Px4Settings(), ArduPilotSettings()
    assert (px4.rate_hz, px4.boot_time, px4.arming_time) == (250.0, 20.0, 10.0)
    assert (ardupilot.boot_time, ardupilot.arming_time) == (30.0, 10.0)
    assert px4.probe and said_of("firmware.probe") == "true"
    assert not BetaflightSettings().paced and said_of("firmware.paced") == "false"
    assert list(BetaflightSettings().rotor_order) == [0, 1, 2, 3]


def test_px4_is_in_zurich_where_the_field_is_48_microtesla_and_dips_by_63_degrees():
    settings = Px4Settings()
    east, north, up = settings.magnetic_field
    assert np.linalg.norm(settings.magnetic_field) == pytest.approx(48.0e-6, rel=0.01)
    assert np.rad2deg(np.arctan2(-up, np.hypot(east, north))) == pytest.approx(63.3, abs=0.3)
    assert np.rad2deg(np.arctan2(east, north)) == pytest.approx(3.0, abs=0.2)  # declination
    place = (settings.latitude_deg, settings.longitude_deg, settings.altitude)
    assert place == pytest.approx((47.3977, 8.5456, 488.0), rel=1e-5)


def test_noise_of_samples_has_its_deviations_on_every_axis_about_the_true_motion():
    settings = BetaflightSettings(gyro_noise=0.02, accelerometer_noise=0.3)
    noise = SensorNoise(settings, np.random.default_rng(3))
    true = AircraftMotion((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (0.0,) * 3, LEVEL, (0.0,) * 3)
    seen = [noise(true) for _ in range(2 * BLOCK)]
    w, f = (np.array([getattr(each, key) for each in seen]) for key in ("w_WB_B", "f_B"))
    for values, mean, deviation in ((w, (1.0, 2.0, 3.0), 0.02), (f, (4.0, 5.0, 6.0), 0.3)):
        np.testing.assert_allclose(values.mean(axis=0), mean, atol=5.0 * deviation / 45.0)
        np.testing.assert_allclose(values.std(axis=0), deviation, rtol=0.1)
    assert len({tuple(row) for row in w.tolist()}) == 2 * BLOCK  # none comes twice
    drawn = np.random.default_rng(3).standard_normal((BLOCK, 6))
    last = 2.0 * drawn[-1]  # the rows are taken from the last on, and added
    np.testing.assert_allclose(w[0] - true.w_WB_B, 0.01 * last[:3], atol=1e-12)
    np.testing.assert_allclose(f[0] - true.f_B, 0.15 * last[3:], atol=1e-12)


def turned(roll, pitch, yaw):
    about = np.eye(3)
    parts = [so3.quaternion_exp(angle * about[i]) for i, angle in enumerate((roll, pitch, yaw))]
    return tuple(so3.multiply(parts[2], so3.multiply(parts[1], parts[0])).tolist())


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.5])
def test_sticks_tilt_as_ordered_seen_from_the_present_heading_and_turn_towards_the_ordered_one(
    yaw,
):
    order = AttitudeOrder(True, turned(0.2, -0.3, yaw + 0.4), (0.0, 0.0, 0.1), 0.5, True)
    roll, pitch, rate = stick_angles(order, turned(0.0, 0.0, yaw + 0.4), 2.5)
    assert (roll, pitch, rate) == pytest.approx((0.2, -0.3, 0.1))
    *_, rate = stick_angles(order, turned(0.1, 0.3, yaw), 2.5)
    assert rate == pytest.approx(0.1 + 2.5 * 0.4)
    level = AttitudeOrder(True, turned(0.0, 0.2, 0.0), (0.0, 0.0, 0.0), 0.5, True)
    roll, pitch, _ = stick_angles(level, turned(0.0, 0.0, np.pi / 2.0), 1.0)
    assert (roll, pitch) == pytest.approx((0.2, 0.0), abs=1e-12)  # ahead is to its right
