# SPDX-License-Identifier: BSD-3-Clause
"""When an estimate is lost, what a vehicle does then, and commands of those that take velocities."""

import math

import numpy as np
import pytest
from flying import model_of

from iap_control.arm.motions import ArmWaypoints, HoldMotion, SwingMotion
from iap_control.arm.tip_paths import Harmonic, PathOfTip
from iap_control.arm.tip_velocities import heading_twist, velocity_row
from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe, reason_of
from iap_control.controllers.velocity import VelocityController
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import EstimateHealth, Reference
from iap_description.states import REF_FIXED, REF_P, REF_V, Mode
from iap_description.vehicles.arm import load_arm

LAND = Failsafe(blind=2.0, deviation=0.5, silence=0.3, action="land", descent=0.4)
SOUND = {"blind": 0.0, "deviation": 0.1, "age": 0.0}
ARM = load_arm("m100").model_copy(update={"home": (0.1, 0.2, -0.3)})


def health(**changes):
    names = EstimateHealth._fields
    return EstimateHealth(**{**dict.fromkeys(names, 0.0), **SOUND, **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"blind": 2.0, "deviation": 0.5, "age": 0.3}, ""),
        ({"blind": 2.04}, "nothing seen for 2.0 s"),
        ({"deviation": 0.512}, "uncertain by 0.51 m"),
        ({"deviation": math.nan}, ""),
        ({"age": 0.31}, "no update for 0.3 s"),
    ],
)
def test_an_estimate_is_lost_beyond_its_limits(changes, reason):
    assert reason_of(health(**changes), LAND) == reason


def asked():
    row = np.zeros(REF_FIXED + 2)
    row[REF_P], row[6], row[REF_FIXED:] = (9.0, 9.0, 9.0), 1.0, (0.1, 0.2)
    return Reference(row)


def believed(z=5.0):
    return np.array([1.0, 2.0, z, 0.0, 0.0, 0.0, 1.0, *np.zeros(6)])


def test_a_lost_estimate_stays_lost_for_its_first_reason_until_the_next_flight():
    failsafe = EstimateFailsafe(LAND)
    assert not failsafe.judge(1.0, health()) and failsafe.text == "" and not failsafe.is_landing
    assert math.isnan(failsafe.lost_at)
    assert failsafe.judge(2.0, health(blind=3.0))
    assert not failsafe.judge(3.0, health(age=9.0)) and not failsafe.judge(4.0, health())
    assert failsafe.text == "estimate lost at 2.00 s, nothing seen for 3.0 s"
    assert failsafe.is_landing
    failsafe.reset()
    assert failsafe.text == "" and not failsafe.is_landing and math.isnan(failsafe.lost_at)


@pytest.mark.parametrize(("action", "speed"), [("land", 0.4), ("hold", 0.0)])
def test_it_comes_down_or_stays_from_where_it_believes_to_be_once_it_is_lost(action, speed):
    failsafe, reference = EstimateFailsafe(LAND.model_copy(update={"action": action})), asked()
    assert failsafe.reference(9.9, believed(), reference) is reference
    failsafe.judge(9.95, health(deviation=1.0))
    for t in (10.0, 10.2, 10.4):
        row = failsafe.reference(t, believed(5.0 - (t - 10.0)), reference).row
        np.testing.assert_allclose(row[REF_P], [1.0, 2.0, 5.0 - speed * (t - 10.0)])
        np.testing.assert_allclose(row[REF_V], [0.0, 0.0, -speed])
        np.testing.assert_allclose(row[REF_FIXED:], [0.1, 0.2])
    assert failsafe.is_landing == (action == "land")


def test_states_that_stay_away_for_longer_than_the_silence_are_a_lost_estimate():
    failsafe, reference = EstimateFailsafe(LAND), asked()
    for t in (0.0, 0.3, 0.59):
        assert failsafe.reference(t, believed(), reference) is reference
    assert failsafe.reference(0.95, believed(), reference) is not reference
    assert failsafe.text == "estimate lost at 0.95 s, no state for 0.4 s"


YAW = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))


def test_a_vehicle_that_takes_velocities_gets_them_along_the_axes_of_its_heading():
    controller, x, reference = (
        VelocityController(model_of("f450"), None, dt=0.01),
        believed(),
        asked(),
    )
    reference.row[REF_V], reference.row[10:13] = (1.0, 2.0, 3.0), (0.4, 0.5, 0.6)
    x[3:7] = so3.multiply(YAW, so3.quaternion_exp(np.array([0.3, 0.0, 0.0])))
    command = controller(x, reference)
    assert command.mode == Mode.VELOCITY
    np.testing.assert_allclose(command.wrench_P, [2.0, -1.0, 3.0, 0.4, 0.5, 0.6], atol=1e-12)


def test_velocities_of_a_base_are_written_along_the_axes_of_its_heading_and_read_back():
    row, x = np.zeros(REF_FIXED + 1), believed()
    x[3:7] = YAW
    velocity_row(row, x, np.array([1.0, 2.0, 3.0, 0.7, 9.0]))
    np.testing.assert_allclose(row[:7], x[:7])
    np.testing.assert_allclose(row[7:13], [-2.0, 1.0, 3.0, 0.0, 0.0, 0.7], atol=1e-12)
    np.testing.assert_allclose(heading_twist(row, YAW), [1.0, 2.0, 3.0, 0.0, 0.0, 0.7], atol=1e-12)


def test_a_path_of_a_tip_is_a_sine_on_every_axis_with_its_rates():
    def axis(offset, amplitude, rate, phase):
        return Harmonic(offset=offset, amplitude=amplitude, rate=rate, phase_deg=phase)

    path = PathOfTip(
        x=axis(1.0, 2.0, 0.5, 30.0), y=axis(2.0, 1.0, 0.0, 90.0), z=axis(0.0, 0.0, 1.0, 0.0),
        heading=axis(0.1, 0.3, 2.0, -90.0),
    )  # fmt: skip
    r, dr = path.at(np.array([0.0, 1.0]))
    angle = 0.5 + np.pi / 6.0
    np.testing.assert_allclose(r[0], [2.0, 3.0, 0.0, -0.2], atol=1e-12)
    np.testing.assert_allclose(
        r[1], [1.0 + 2.0 * np.sin(angle), 3.0, 0.0, 0.1 - 0.3 * np.cos(2.0)]
    )
    np.testing.assert_allclose(dr[1], [np.cos(angle), 0.0, 0.0, 0.6 * np.sin(2.0)], atol=1e-12)


def test_joints_go_to_where_they_are_held_within_two_seconds():
    motion = HoldMotion(type="hold", joints=(0.5, 1.0, -0.5))
    out = motion.targets(np.array([0.0, 1.0, 2.0, 9.0]), ARM)
    home = np.array([0.1, 0.2, -0.3])
    ways = np.array([0.4, 0.8, -0.2])
    np.testing.assert_allclose(out[:, 0], home + ways * np.array([[0.0], [0.5], [1.0], [1.0]]))
    np.testing.assert_allclose(out[1, 1], 1.875 / 2.0 * ways)
    np.testing.assert_allclose(HoldMotion(type="hold").targets(np.array([5.0]), ARM)[0, 0], home)


def test_a_joint_swings_about_its_middle_once_it_has_come_there():
    motion = SwingMotion(type="swing", joint="q2", middle=0.8, amplitude=0.5, frequency=0.7)
    t = np.array([1.0, 3.0])
    q = motion.targets(t, ARM)[:, 0]
    wave = 0.5 * np.sin(2.0 * np.pi * 0.7 * t)
    np.testing.assert_allclose(q[:, [0, 2]], [[0.1, -0.3]] * 2)
    np.testing.assert_allclose(q[:, 1], 0.2 + np.array([0.5, 1.0]) * (wave + 0.6))


@pytest.mark.parametrize("times", [(0.0,), (1.0, 1.0), (2.0, 1.0)])
def test_waypoints_come_one_after_the_other(times):
    points = [{"t": t, "q": [0.0, 0.0, 0.0]} for t in times]
    with pytest.raises(BadInput, match="key 'points': the times must be positive and increase"):
        validate(ArmWaypoints, {"type": "trajectory", "points": points}, source="test")


@pytest.mark.parametrize(
    ("key", "point"), [("q", {"q": [0.0]}), ("v", {"q": [0.0] * 3, "v": [1.0]})]
)
def test_waypoints_have_a_number_for_each_joint(key, point):
    motion = validate(
        ArmWaypoints, {"type": "trajectory", "points": [{"t": 1.0, **point}]}, source="test"
    )
    with pytest.raises(
        BadInput, match=rf"^key 'arm\.motion\.points\.{key}': 3 joints .* \(got 1\)$"
    ):
        motion.targets(np.zeros(1), ARM)
