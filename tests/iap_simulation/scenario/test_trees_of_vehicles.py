# SPDX-License-Identifier: BSD-3-Clause
"""Trees of vehicles, homes of arms, sizes of logged velocities, ticks that count and exponents, by hand."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_physics.identified.dynamics import CHANNELS
from iap_simulation.identification.log import check_sizes
from iap_simulation.identification.rotorcraft.thrust import STAND, stand_exponent
from iap_simulation.metrics.contact import steady_ticks
from iap_simulation.scenario.vehicle_trees import as_list, begin_with_joints


def test_the_shorthand_of_one_vehicle_is_a_list_of_one():
    tree = {"seed": 3, "platform": "f450", "control": {"law": "auto"}, "duration": 5.0}
    assert as_list(tree) == {
        "seed": 3,
        "duration": 5.0,
        "vehicles": [{"platform": "f450", "control": {"law": "auto"}}],
    }
    assert as_list({"vehicles": [1]}) == {"vehicles": [1]}


def test_joints_of_a_start_are_the_home_of_the_arm_in_radians():
    arm = {"arm": {"joints": "some", "home": [0.0, 0.0]}, "mass": 2.0}
    vehicle = {"platform": arm, "start": {"joints_deg": [90.0, -180.0]}}
    begin_with_joints(vehicle, "here")
    assert vehicle["platform"]["arm"]["home"] == pytest.approx([np.pi / 2.0, -np.pi])
    assert vehicle["platform"]["mass"] == 2.0 and arm["arm"]["home"] == [0.0, 0.0]
    for start in ({}, {"joints_deg": None}, None):
        same = {"platform": arm, "start": start}
        begin_with_joints(same, "here")
        assert same["platform"] is arm


@pytest.mark.parametrize(
    ("platform", "angles", "said"),
    [
        ({"mass": 2.0}, [1.0], "the platform has no arm"),
        ({"arm": None}, [1.0], "the platform has no arm"),
        ({"arm": {}}, 5.0, r"numbers are expected \(got 5"),
        ({"arm": {}}, [1.0, "x"], r"numbers are expected \(got "),
    ],
)
def test_joints_that_no_arm_has_are_refused(platform, angles, said):
    with pytest.raises(BadInput, match=rf"^here: key 'start\.joints_deg': {said}"):
        begin_with_joints({"platform": platform, "start": {"joints_deg": angles}}, "here")


def velocities(channel: str, size: float) -> np.ndarray:
    out = np.zeros((1000, len(CHANNELS)))
    out[:, CHANNELS.index(channel)] = size * np.sin(np.arange(1000.0))
    return out


def test_a_velocity_that_no_vehicle_has_is_in_another_unit():
    none = np.zeros((1000, len(CHANNELS)))
    for channel in ("u_l", "w"):
        check_sizes("log.csv", CHANNELS, velocities(channel, 1.0), velocities(channel, 1.0))
        said = rf"^log\.csv: channel {channel} comes to .*--set "
        with pytest.raises(BadInput, match=said):
            check_sizes("log.csv", CHANNELS, none, velocities(channel, 400.0))
        with pytest.raises(BadInput, match=said):
            check_sizes("log.csv", CHANNELS, velocities(channel, 400.0), none)


def test_a_velocity_is_fifty_times_its_command_at_most():
    small = velocities("u_l", 0.02)
    check_sizes("log.csv", CHANNELS, small, velocities("u_l", 0.98))
    with pytest.raises(
        BadInput, match=r"^log\.csv: channel u_l is 51 times its command: their units"
    ):
        check_sizes("log.csv", CHANNELS, small, velocities("u_l", 1.02))
    check_sizes("log.csv", CHANNELS, 0.0 * small, velocities("u_l", 1.02))  # nothing was asked for


def test_ticks_count_a_while_after_contact_and_under_wrench_control_where_there_is_one():
    t, none = np.arange(6.0), np.zeros(6, bool)
    assert steady_ticks(t, none, 1.0, 2.0).tolist() == [False] * 3 + [True] * 3
    pushing = np.array([True, True, False, True, False, False])
    assert steady_ticks(t, pushing, 1.0, 2.0).tolist() == [False] * 3 + [True, False, False]
    assert not steady_ticks(t, none, np.inf, 0.0).any()


def test_a_rotor_on_a_stand_has_an_exponent_between_one_and_two():
    """Of thrust a n + b n^2 with a / b = 0.1, d ln T / d ln n."""
    assert STAND == pytest.approx(0.1)
    for n in (0.2, 0.5, 1.0):
        h = 1e-6
        log = [np.log(0.1 * x + x * x) for x in (n * (1 - h), n * (1 + h))]
        assert stand_exponent(n) == pytest.approx((log[1] - log[0]) / (2 * h), rel=1e-6)
