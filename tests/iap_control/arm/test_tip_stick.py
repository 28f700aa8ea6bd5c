# SPDX-License-Identifier: BSD-3-Clause
"""A stick moves the reference of an end effector: how fast, along which axes, how far ahead, and for how long."""

from typing import Any

import numpy as np
import pytest

from iap_control.arm.tip_stick import Stick, TipStick
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_simulation.scenario.resolving import SCENARIOS

PERIOD = 0.1
START = np.array([1.0, 2.0, 3.0, np.deg2rad(90.0)])
MOTION = read_yaml(SCENARIOS.file("arm_teleop"))["arm"]["motion"]


def stick(*demands: dict[str, Any], **keys: Any) -> Stick:
    return Stick(validate(TipStick, {**MOTION, "demands": list(demands), **keys}, source="here"))


def moved(made: Stick, seconds: float, *, leads: bool = False) -> np.ndarray:
    """References and rates (K, 2, 4) at control instants, of an end effector that is where it should be, or stays."""
    r, rows = START.copy(), []
    for k in range(round(seconds / PERIOD) + 1):
        now, rates = made(PERIOD * k, PERIOD, START if leads else r)
        rows.append([now, rates])
        r = now
    return np.array(rows)


def test_a_recorded_stick_moves_along_the_heading_by_speed_times_time_and_stops() -> None:
    """Ramps up and down are alike, so that what the ramp takes at first the stop gives back."""
    rows = moved(
        stick(
            {"t": 0.2, "velocity": [0.3, 0.0, 0.1], "turn_deg": 0.0},
            {"t": 2.2, "velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0},
        ),
        4.0,
    )
    np.testing.assert_allclose(rows[0, 0], START, atol=1e-15)
    np.testing.assert_allclose(rows[-1, 0], START + [0.0, 0.6, 0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(rows[-1, 1], 0.0, atol=1e-15)
    speeds = np.linalg.norm(rows[:, 1, :3], axis=1)
    assert np.abs(np.diff(speeds)).max() <= 0.5 * PERIOD + 1e-12
    steps = np.diff(rows[:, 0], axis=0)
    between = 0.5 * (np.vstack([np.zeros(4), rows[:-2, 1]]) + rows[:-1, 1])
    np.testing.assert_allclose(steps, PERIOD * between, atol=1e-12)  # rates are those of places


def test_a_turn_takes_the_axes_with_it() -> None:
    """Forward at 0.2 m/s while turning at 30 deg/s is an arc of 0.38 m, to the second order of the period."""
    asked = {"velocity": [0.2, 0.0, 0.0], "turn_deg": 30.0}
    rows = moved(stick({"t": 0.0, **asked}, acceleration=1e3, turn_acceleration=1e3), 6.0)
    turned = rows[20:50, 0]
    middle = turned[:, :2] + (0.2 / np.deg2rad(30.0)) * np.column_stack(
        [-np.sin(turned[:, 3]), np.cos(turned[:, 3])]
    )
    assert np.ptp(middle, axis=0).max() < 1e-3
    assert rows[-1, 0, 3] - rows[10, 0, 3] == pytest.approx(np.deg2rad(150.0), abs=1e-9)


def test_the_reference_does_not_run_away_from_an_end_effector_that_stays() -> None:
    rows = moved(stick({"t": 0.0, "velocity": [0.5, 0.0, 0.0], "turn_deg": 0.0}), 4.0, leads=True)
    away = np.linalg.norm(rows[:, 0, :3] - START[:3], axis=1)
    assert away.max() == pytest.approx(0.5, abs=1e-12)  # the leash
    assert np.linalg.norm(rows[-1, 1]) < 1e-12


def test_twists_by_messages_count_until_they_are_old_and_along_map_where_they_say_so() -> None:
    made = stick(acceleration=1e3)
    assert made.listens
    made.take(np.array([0.2, 0.0, 0.0, 9.0, 9.0, 0.0]), in_map=False)
    rows = moved(made, 2.0)
    assert rows[5, 1] == pytest.approx([0.0, 0.2, 0.0, 0.0])
    np.testing.assert_array_equal(rows[-1, 1], 0.0)
    made.reset()
    made.take(np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0]), in_map=True)
    assert moved(made, 0.2)[-1, 1] == pytest.approx([0.2, 0.0, 0.0, 0.0])


def test_where_it_should_be_is_known_between_the_instants() -> None:
    made = stick({"t": 0.0, "velocity": [0.3, 0.0, 0.0], "turn_deg": 0.0}, acceleration=1e3)
    assert made.reference(0.0) is None
    rows = moved(made, 1.0)
    now = made.reference(1.0 + 0.5 * PERIOD)
    assert now is not None
    np.testing.assert_allclose(now, rows[-1, 0, :3] + [0.0, 0.015, 0.0], atol=1e-12)


def test_demands_are_in_the_order_of_time() -> None:
    still = {"velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0}
    with pytest.raises(BadInput, match="key 'demands': the times must increase"):
        stick({"t": 1.0, **still}, {"t": 1.0, **still})


def test_a_twist_counts_from_the_first_instant_after_it_came_however_late_that_is() -> None:
    made = stick(acceleration=1e3)
    made.take(np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0]), in_map=True)
    timeout = MOTION["timeout"]
    speeds = [made(30.0 + t, PERIOD, START)[1][0] for t in (0.0, 0.99 * timeout, 1.01 * timeout)]
    assert speeds == pytest.approx([0.2, 0.2, 0.0])
