# SPDX-License-Identifier: BSD-3-Clause
"""References have a longest duration, a largest number of steps and of points, which errors name."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_control.references.excitation import Excitation
from iap_control.references.maneuvers import Maneuvers
from iap_control.references.timeline import Leads
from iap_control.references.velocity_steps import VelocitySteps
from iap_control.references.waypoints import read_trajectory
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED

EXCITATION = {
    "type": "excitation", "position": [0.0, 0.0, 2.0], "yaw_deg": 0.0, "hover": 2.0, "step": 1.0, "doublet": 0.4,
    "yaw_doublet_deg": 30.0, "acceleration": 2.5, "yaw_acceleration": 2.0, "frequencies": [0.5, 3.0], "length": 8.0,
    "speed": 5.0,
}  # fmt: skip
STEPS = {
    "type": "velocity_steps", "position": [0.0, 0.0, 2.0], "yaw_deg": 0.0, "pause": 1.0, "speeds": [1.0, 1.0, 1.0],
    "yaw_rate": 0.6, "holds": [2.0, 4.0], "ease": 0.5, "seed": 3,
}  # fmt: skip


def test_an_excitation_lasts_an_hour_at_most():
    short = validate(Excitation, {**EXCITATION, "sweep": 8.0}, source="test").duration
    longer = validate(Excitation, {**EXCITATION, "sweep": 9.0}, source="test").duration
    hour = 8.0 + (3600.0 - short) / (longer - short)
    assert validate(Excitation, {**EXCITATION, "sweep": hour - 0.1}, source="test").duration < 3600
    with pytest.raises(BadInput, match=r"'sweep': the flight lasts 360\d s, more than 3600 s"):
        validate(Excitation, {**EXCITATION, "sweep": hour + 1.0}, source="test")


def test_a_hundred_thousand_steps_of_velocity_follow_each_other_at_most():
    assert validate(VelocitySteps, {**STEPS, "duration": 2e5}, source="test").duration == 2e5
    with pytest.raises(BadInput, match=r"'duration': more than 100000 steps of 2\.0 s"):
        validate(VelocitySteps, {**STEPS, "duration": 2.01e5}, source="test")


def test_a_way_takes_an_hour_at_most():
    maneuvers = Maneuvers(Leads(0.0, None, 5.9), 0.5, np.zeros(3))
    now = np.zeros(REF_FIXED)
    now[2], now[6] = 1.0, 1.0
    goal = np.array([1.0, 0.0, 1.0])
    line = maneuvers.go_to(now, goal, 0.0, 3600.0, relative=False)
    assert line.count * 0.5 == pytest.approx(3600.0)
    for duration in (3601.0, -0.1, np.nan):
        with pytest.raises(BadInput, match=r"^duration: .* s, must be from 0 to 3600 s$"):
            maneuvers.go_to(now, goal, 0.0, duration, relative=False)


@pytest.mark.parametrize("count", [0, 100_001])
def test_a_trajectory_has_a_point_and_a_hundred_thousand_at_most(count):
    message = SimpleNamespace(header=SimpleNamespace(frame_id="map"), points=[None] * count)
    with pytest.raises(BadInput, match=f"^{count} points, must be from 1 to 100000$"):
        read_trajectory(message)
    message.header.frame_id = "odom"
    with pytest.raises(BadInput, match=r"header\.frame_id is 'odom'; expected is 'map'"):
        read_trajectory(message)
