# SPDX-License-Identifier: BSD-3-Clause
"""Figures of an end effector's errors, and the stability of its loop, by numbers that are worked out by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.states import REF_A, REF_P, REF_V
from iap_physics.identified.plant_file import DynamicPlant
from iap_simulation.arm import path_monitor, stability
from iap_simulation.arm.arm_monitor import ArmMonitor


def test_errors_of_a_tip_are_lengths_axes_and_headings_within_half_a_turn() -> None:
    e = np.array(
        [[3.0, 0.0, 4.0, 0.1], [0.0, 1.0, 0.0, 2.0 * np.pi - 0.3], [0.0, 0.0, 0.0, -6.0 * np.pi]]
    )
    found = path_monitor.errors(e)
    assert found["position_rmse_m"] == pytest.approx(np.sqrt(26.0 / 3.0))
    assert found["position_rmse_xyz_m"] == pytest.approx(np.sqrt(np.array([9.0, 1.0, 16.0]) / 3.0))
    assert found["position_max_m"] == 5.0
    assert found["heading_rmse_rad"] == pytest.approx(np.sqrt((0.01 + 0.09) / 3.0))
    nothing = path_monitor.errors(e[:0])
    assert list(nothing) == list(found) and set(nothing.values()) == {None}


def test_a_held_command_acts_for_a_whole_period() -> None:
    """x' = a x + b x_held has x(T) = (e^(aT) + (e^(aT) - 1) b / a) x_held."""
    a, b, T = -2.0, 0.5, 0.3
    (found,) = stability.sampled(np.array([[a]]), np.array([[b]]), T)
    assert found[0] == pytest.approx(np.exp(a * T) + (np.exp(a * T) - 1.0) * b / a)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    whole = stability.sampled(turn, np.zeros((2, 2)), np.pi / 2.0)
    np.testing.assert_allclose(whole, turn, atol=1e-12)


def test_poles_are_computed_at_forty_instants_from_the_first_to_the_last() -> None:
    np.testing.assert_array_equal(stability._instants(40), np.arange(40))
    assert stability._instants(5).tolist() == [0, 1, 2, 3, 4]
    found = stability._instants(1000)
    assert (len(found), found[0], found[-1], found[1]) == (40, 0, 999, 25)


class Law:
    """The error is that of the first three numbers, corrected by a tenth of it."""

    def error(self, goal: np.ndarray, p: np.ndarray, yaw: float, q: np.ndarray) -> np.ndarray:
        return goal[:3] - p

    def correction(self, e: np.ndarray) -> np.ndarray:
        return 0.1 * e

    def jacobian(self, yaw: float, q: np.ndarray) -> np.ndarray:
        return np.diag([3.0, 2.0, 1.0 + q[0] + yaw])


def test_an_error_that_rises_counts_from_where_it_has_settled() -> None:
    sizes = np.array([9.0, 9.5, 2.0, 3.0, 1.0, 1.5, 0.5])
    pose = np.zeros((7, 4))
    pose[:, 1], pose[:, 3] = -sizes, 0.25
    log: Any = SimpleNamespace(pose=pose, q=np.full((7, 3), 0.5), t=0.1 * np.arange(7.0))
    log.q[4, 0] = -0.75
    loop: Any = SimpleNamespace(law=Law(), plant=None)
    found = stability.stability(loop, log, np.zeros((7, 4)), 0.2)
    assert found["lyapunov_rate_max"] == pytest.approx(-0.1 * 0.25)  # the smallest error is 0.5
    assert found["rising_share"] == pytest.approx(
        2 / 4
    )  # of four steps, from 2 to 3 and from 1 to 1.5
    assert found["rising_error_max"] == 2.0
    assert found["singular_value_min"] == pytest.approx(0.5)
    assert (found["pole_max_per_s"], found["sampled_radius"]) == (None, None)
    late = stability.stability(loop, log, np.zeros((7, 4)), 0.55)
    assert (late["rising_share"], late["rising_error_max"]) == (None, 0.0)


def test_a_platform_that_is_led_should_be_where_it_was_led_a_period_before() -> None:
    row = np.zeros(19)
    row[REF_P], row[REF_V], row[REF_A] = [1.0, 2.0, 3.0], [0.5, 0.0, -1.0], [0.0, 2.0, 4.0]
    vehicle: Any = SimpleNamespace(reference=lambda k: SimpleNamespace(row=row + k))
    monitor = ArmMonitor(0, vehicle, (0.0, 1.0))
    np.testing.assert_allclose(monitor._desired_position(7, 0.1, None), [8.0, 9.0, 10.0])
    led = monitor._desired_position(7, 0.1, row)
    np.testing.assert_allclose(led, [1.05, 2.01, 2.92])


def test_the_first_vehicle_with_an_arm_is_followed_over_its_window_or_another() -> None:
    timeline = SimpleNamespace(window=(2.0, 9.0))
    bare, armed = (SimpleNamespace(arm=arm, timeline=timeline) for arm in (None, "arm"))
    fleet: Any = [bare, armed, armed]
    monitor = ArmMonitor.of(fleet, None)
    assert monitor is not None and (monitor._number, monitor._window) == (1, (2.0, 9.0))
    other = ArmMonitor.of(fleet, (3.0, 4.0))
    assert other is not None and other._window == (3.0, 4.0)
    assert ArmMonitor.of(fleet[:1], None) is None


def test_the_slowest_pole_is_that_of_the_loop_closed_and_the_radius_that_of_held_commands(
    monkeypatch,
) -> None:
    """e' = a e + b e_held: a pole at a + b, and the factor (e^(aT) + (e^(aT) - 1) b / a) of a period."""
    loops = iter([(-3.0, 1.0), (-4.0, 2.5)])

    def linear_loop(*_: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = next(loops)
        return np.array([[a]]), np.array([[b]])

    monkeypatch.setattr(stability, "linear_loop", linear_loop)
    loop: Any = SimpleNamespace(plant=DynamicPlant.model_construct(), period=0.2)
    found = stability._poles(loop, [(0.0, np.zeros(3)), (0.1, np.zeros(3))])
    assert found["pole_max_per_s"] == pytest.approx(-1.5)
    radii = [
        np.exp(a * 0.2) + (np.exp(a * 0.2) - 1.0) * b / a for a, b in ((-3.0, 1.0), (-4.0, 2.5))
    ]
    assert found["sampled_radius"] == pytest.approx(max(radii))
