# SPDX-License-Identifier: BSD-3-Clause
"""Reference motions: rows that are consistent with their own derivatives, and the flights they stand for."""

import numpy as np
import pytest
from flying import scenario_of
from pydantic import TypeAdapter

from iap_control.references.jet import Jet, constant, polyline
from iap_control.references.motions import Motion
from iap_control.references.poses_and_lines import Moves
from iap_control.references.rows import from_ned, rows_of
from iap_description import frames
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W

SCENARIOS = {
    "spiral": "three_star_spiral",
    "figure_eight": "figure_eight",
    "circle": "three_line_5dof",
    "two_line_circle": "two_line_circle",
    "ramps": "three_square_ramps",
    "hover": "hover",
}
LINE = {
    "type": "line",
    "duration": 6.0,
    "start": [0, 0, 1.0],
    "end": [2.0, -1.0, 2.5],
    "yaw_deg": 30.0,
}
MOVES = {
    "type": "moves",
    "position": [0.5, 0.0, 1.0],
    "rpy_deg": [0.0, 5.0, -20.0],
    "ease": 1.0,
    "moves": [
        {"seconds": 5.0, "by": [-1.0, 0.5, 0.2], "turn_deg": [0.0, 0.0, 40.0]},
        {"seconds": 3.0, "by": [0.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]},
        {"seconds": 2.0, "by": [0.0, 0.1, 0.0], "turn_deg": [0.0, -5.0, 0.0]},
    ],
}
every_motion = pytest.mark.parametrize("name", [*SCENARIOS, "line", "moves"])


def motion_of(name):
    if name == "line":
        return TypeAdapter(Motion).validate_python(
            {
                key: [float(v) for v in value] if isinstance(value, list) else value
                for key, value in LINE.items()
            }
        )
    if name == "moves":
        return validate(Moves, MOVES, source="test")
    return scenario_of(SCENARIOS[name]).vehicles[0].reference


def corners_of(name, motion):
    """Times at which velocity, rate or acceleration may jump."""
    if name == "figure_eight":
        return np.arange(0.0, motion.duration + 1.0, 0.5 * motion.half_lap)
    if name == "ramps":
        steps = [0.0, motion.ramp, motion.ramp + motion.pause, 2.0 * motion.ramp + motion.pause]
        block = 2.0 * (motion.ramp + motion.pause)
        starts = [0.0, block, 2.0 * block + motion.period + motion.ease]
        return np.array([start + step for start in starts for step in steps])
    return np.array([0.0, motion.duration])


def smooth_times(name, motion, count=60):
    """Times away from the corners."""
    t = np.linspace(0.0, motion.duration, count + 2)[1:-1]
    corners = corners_of(name, motion)
    return t[np.abs(t[:, None] - corners).min(axis=1) > 0.01]


def velocity_of(q_before, q_after, span):
    """Body rate between attitudes by their difference."""
    return so3.quaternion_log(so3.multiply(so3.conjugate(q_before), q_after)) / span


@every_motion
def test_rows_are_consistent_with_their_derivatives_away_from_corners(name):
    motion, h = motion_of(name), 1e-4
    t = smooth_times(name, motion)
    before, now, after = (motion.rows(t + s) for s in (-h, 0.0, h))
    assert len(t) > 40

    def slope(columns):
        return (after[:, columns] - before[:, columns]) / (2.0 * h)

    np.testing.assert_allclose(now[:, REF_V], slope(REF_P), atol=1e-6)
    np.testing.assert_allclose(now[:, REF_A], slope(REF_V), atol=1e-5)
    rate = velocity_of(before[:, REF_Q], after[:, REF_Q], 2.0 * h)
    np.testing.assert_allclose(now[:, REF_W], rate, atol=1e-6)
    np.testing.assert_allclose(now[:, REF_ALPHA], slope(REF_W), atol=1e-5)


@every_motion
def test_attitudes_are_unit_quaternions_and_everything_is_finite(name):
    motion = motion_of(name)
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, 0.01))
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(np.linalg.norm(rows[:, REF_Q], axis=1), 1.0, atol=1e-12)


@every_motion
def test_positions_and_attitudes_never_jump(name):
    motion, dt = motion_of(name), 0.005
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, dt))
    assert np.abs(np.diff(rows[:, REF_P], axis=0)).max() < 2.0 * dt
    turns = velocity_of(rows[:-1, REF_Q], rows[1:, REF_Q], 1.0)
    assert np.abs(turns).max() < 0.5 * dt


@every_motion
def test_velocities_never_jump(name):
    """Rates and accelerations may: ramps are abrupt, and a figure-eight changes sides."""
    motion, dt = motion_of(name), 0.001
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, dt))
    assert np.abs(np.diff(rows[:, REF_V], axis=0)).max() < 2.0 * dt


def test_spiral_winds_in_from_two_metres_to_a_fixed_point_while_it_climbs():
    motion = motion_of("spiral")
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, 0.005))
    across = np.linalg.norm(rows[:, :2] - np.array(motion.center[:2]), axis=1)
    assert motion.duration == 40.0
    assert across[0] == pytest.approx(2.0)
    assert across[-1] == pytest.approx(0.0, abs=1e-12)
    assert (np.diff(across) < 1e-9).all()
    assert rows[-1, 2] - rows[0, 2] == pytest.approx(1.5)
    assert np.linalg.norm(rows[:, REF_V], axis=1).max() >= 1.0


def test_spiral_ends_at_rest_and_level():
    motion = motion_of("spiral")
    rows = motion.rows(np.linspace(motion.arrival, motion.duration, 50))
    np.testing.assert_allclose(rows[:, REF_P], np.tile(rows[-1, REF_P], (50, 1)), atol=1e-12)
    np.testing.assert_allclose(rows[:, 7:], 0.0, atol=1e-12)
    np.testing.assert_allclose(rows[:, REF_Q], np.tile([0, 0, 0, 1.0], (50, 1)), atol=1e-12)


def test_spiral_sways_by_ten_ten_and_forty_five_degrees_both_ways():
    motion = motion_of("spiral")
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, 0.005))
    angles = np.rad2deg(so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q])))
    np.testing.assert_allclose(angles.max(axis=0), [10.0, 10.0, 45.0], rtol=0.02)
    np.testing.assert_allclose(angles.min(axis=0), [-10.0, -10.0, -45.0], rtol=0.02)
    assert angles[6300, 0] == pytest.approx(10.0, rel=0.01)  # still, 4.5 s before it arrives


def test_two_line_circles_at_half_a_metre_per_second_with_its_direction_held():
    motion = motion_of("two_line_circle")
    rows = motion.rows(np.arange(0.0, motion.duration, 0.01))
    np.testing.assert_allclose(np.linalg.norm(rows[:, REF_V], axis=1), 0.5, atol=0.005)
    np.testing.assert_allclose(rows[:, REF_W], 0.0, atol=1e-12)
    np.testing.assert_allclose(rows[:, REF_Q], np.tile(rows[0, REF_Q], (len(rows), 1)), atol=1e-12)


def test_three_line_s_command_is_that_of_the_original_simulator():
    """NED: x = sin, y = cos - 1, z = 0.5 sin - 2.1, pitch = 0.25 sin, yaw = 0.25 (cos - 1), 16 s a turn."""
    motion = motion_of("circle")
    t = np.linspace(0.0, 32.0, 65)
    s, c = np.sin(2.0 * np.pi * t / 16.0), np.cos(2.0 * np.pi * t / 16.0)
    rows = motion.rows(t)
    ned = frames.swap_world(rows[:, REF_P])
    np.testing.assert_allclose(ned, np.stack([s, c - 1.0, 0.5 * s - 2.1], -1), atol=1e-12)
    R = frames.swap_attitude(so3.matrix_from_quaternion(rows[:, REF_Q]))
    angles = np.stack([0.0 * s, 0.25 * s, 0.25 * (c - 1.0)], -1)
    np.testing.assert_allclose(so3.euler_from_matrix(R), angles, atol=1e-12)
    assert motion.duration == 32.0


def test_figure_eight_is_the_helical_one_of_the_original_simulator():
    """NED: x = 4.5 sin, y = +-4.5 (cos - 1), z = 2.4 sin - 4.1; ramps of 22.5, -22.5, 45 deg in 12 s."""
    motion = motion_of("figure_eight")
    t = np.linspace(0.0, 96.0, 193)
    phase = 2.0 * np.pi * t / 24.0
    side = np.where((t // 24.0) % 2 == 0, 1.0, -1.0)
    rows = motion.rows(t)
    y = side * 4.5 * (np.cos(phase) - 1.0)
    expected = np.stack([4.5 * np.sin(phase), y, 2.4 * np.sin(phase) - 4.1], -1)
    np.testing.assert_allclose(frames.swap_world(rows[:, REF_P]), expected, atol=1e-10)
    zigzag = np.interp(t, np.arange(0.0, 97.0, 12.0), [0, 1, 0, -1, 0, 1, 0, -1, 0])
    angles = np.deg2rad([22.5, -22.5, 45.0]) * zigzag[:, None]
    R = frames.swap_attitude(so3.matrix_from_quaternion(rows[:, REF_Q]))
    np.testing.assert_allclose(so3.euler_from_matrix(R), angles, atol=1e-10)
    assert motion.duration == 96.0


def test_figure_eight_starts_moving():
    """4.5 and 2.4 m times 2 pi / 24 s: what the lead-in must reach."""
    row = motion_of("figure_eight").rows(np.zeros(1))[0]
    rate = 2.0 * np.pi / 24.0
    np.testing.assert_allclose(
        frames.swap_world(row[REF_V]), [4.5 * rate, 0.0, 2.4 * rate], atol=1e-12
    )
    assert np.linalg.norm(row[REF_V]) == pytest.approx(1.335, abs=0.001)


def test_square_ramps_are_abrupt_first_alone_then_together_with_the_circle():
    motion = motion_of("ramps")
    t = np.arange(0.0, motion.duration + 1e-9, 0.005)
    rows = motion.rows(t)
    turning = np.linalg.norm(rows[:, REF_W], axis=1) > 1e-9
    moving = np.linalg.norm(rows[:, REF_V], axis=1) > 1e-9
    ramps, circle = t < 40.0, (t > 40.0) & (t < 58.0)
    assert not moving[ramps].any() and not turning[circle].any()
    rates = np.linalg.norm(rows[ramps & turning, REF_W], axis=1)
    np.testing.assert_allclose(rates, 0.05, rtol=1e-9)
    assert moving[circle].all()
    assert (turning & moving)[t > 58.0].any()
    angles = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))
    np.testing.assert_allclose(np.abs(angles).max(axis=0)[:2], 0.25, rtol=1e-6)
    jumps = np.abs(np.diff(rows[:, REF_W], axis=0)).max(axis=1)
    assert (jumps > 0.04).sum() >= 8  # of 0.05 rad/s within one sample


def test_square_ramps_circle_is_one_metre_in_sixteen_seconds():
    motion = motion_of("ramps")
    rows = motion.rows(np.arange(0.0, motion.duration + 1e-9, 0.005))
    assert np.ptp(rows[:, 1]) == pytest.approx(2.0, rel=1e-3)  # north, x of the original
    assert np.ptp(rows[:, 0]) == pytest.approx(2.0, rel=1e-3)
    assert np.linalg.norm(rows[:, REF_V], axis=1).max() == pytest.approx(0.44, abs=0.01)
    np.testing.assert_allclose(rows[-1, REF_P], rows[0, REF_P], atol=1e-9)


def test_a_line_starts_and_ends_at_rest():
    motion = motion_of("line")
    first, last = motion.rows(np.array([0.0, 6.0]))
    np.testing.assert_allclose(first[REF_P], LINE["start"])
    np.testing.assert_allclose(last[REF_P], LINE["end"])
    np.testing.assert_allclose([first[7:], last[7:]], 0.0, atol=1e-12)


def test_rows_from_ned_are_those_of_the_frames_module():
    """World vectors, body vectors and attitudes each by their own conversion, and there and back is nothing."""
    t = np.linspace(0.0, 3.0, 7)
    time = Jet.time(t)
    position = (time.sin(), 2.0 * time.cos(), -1.0 * time)
    ned = rows_of(position, (0.3 * time.sin(), 0.2 * time.cos(), 0.5 * time))
    enu = from_ned(ned)
    for columns in (REF_P, REF_V, REF_A):
        np.testing.assert_allclose(
            enu[:, columns], ned[:, columns] @ frames.R_ENU_NED.T, atol=1e-14
        )
    for columns in (REF_W, REF_ALPHA):
        np.testing.assert_allclose(
            enu[:, columns], ned[:, columns] @ frames.R_FLU_FRD.T, atol=1e-14
        )
    R_ned = so3.matrix_from_quaternion(ned[:, REF_Q])
    R_enu = so3.matrix_from_quaternion(enu[:, REF_Q])
    np.testing.assert_allclose(R_enu, frames.R_ENU_NED @ R_ned @ frames.R_FLU_FRD, atol=1e-13)
    back = from_ned(enu)
    np.testing.assert_allclose(back[:, [0, 1, 2]], ned[:, [0, 1, 2]], atol=1e-14)
    np.testing.assert_allclose(so3.matrix_from_quaternion(back[:, REF_Q]), R_ned, atol=1e-13)


@pytest.mark.parametrize(
    "signal",
    [
        lambda s: s * s + 2.0 * s - 1.0,
        lambda s: 3.0 - s.sin() * s.cos(),
        lambda s: (0.4 * s).smooth_step() * s,
        lambda s: -(s * 0.5).cos() + s,
    ],
)
def test_jets_carry_their_derivatives(signal):
    t, h = np.linspace(0.1, 2.3, 20), 1e-4
    before, now, after = (signal(Jet.time(t + s)) for s in (-h, 0.0, h))
    np.testing.assert_allclose(now.df, (after.f - before.f) / (2.0 * h), atol=1e-6)
    np.testing.assert_allclose(now.ddf, (after.df - before.df) / (2.0 * h), atol=1e-6)


def test_a_smooth_step_joins_zero_and_one_with_two_derivatives():
    step = Jet.time(np.array([-1.0, 0.0, 1e-4, 1.0 - 1e-4, 1.0, 2.0])).smooth_step()
    np.testing.assert_allclose(step.f, [0, 0, 0, 1, 1, 1], atol=1e-9)
    np.testing.assert_allclose(step.df, 0.0, atol=1e-6)
    np.testing.assert_allclose(step.ddf, 0.0, atol=1e-2)


def test_a_line_too_short_for_the_times_digits_is_a_step():
    line = polyline(
        np.array([0.5, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 3.0]), np.array([0.0, 1.0, 5.0, 5.0])
    )
    np.testing.assert_array_equal(line.df, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(line.f[[0, 2]], [0.5, 5.0])


def test_a_polyline_has_the_slope_that_begins_at_a_corner():
    line = polyline(
        np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 3.0]),
        np.array([0.0, 1.0, 2.0]),
        np.array([0.0, 2.0, 2.0]),
    )
    np.testing.assert_allclose(line.f, [0.0, 0.0, 1.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(line.df, [0.0, 2.0, 2.0, 0.0, 0.0, 0.0])


def test_a_constant_does_not_change():
    still = constant(np.arange(3.0), 2.5)
    np.testing.assert_array_equal(
        [still.f, still.df, still.ddf], [[2.5] * 3, [0.0] * 3, [0.0] * 3]
    )


def test_moves_pass_their_corners_at_rest_and_cruise_in_between():
    motion = motion_of("moves")
    rows = motion.rows(np.array([0.0, 2.5, 5.0, 8.0, 10.0]))
    np.testing.assert_allclose(rows[0, REF_P], [0.5, 0.0, 1.0])
    np.testing.assert_allclose(rows[2, REF_P], [-0.5, 0.5, 1.2], atol=1e-12)
    np.testing.assert_allclose(rows[4, REF_P], [-0.5, 0.6, 1.2], atol=1e-12)
    np.testing.assert_allclose(rows[[0, 2, 3, 4], 7:13], 0.0, atol=1e-12)
    np.testing.assert_allclose(rows[1, REF_V], np.array([-1.0, 0.5, 0.2]) / 4.0, atol=1e-12)


def test_a_move_too_short_to_pick_up_speed_is_refused():
    short = [{"seconds": 1.5, "by": [1.0, 0.0, 0.0], "turn_deg": [0.0, 0.0, 0.0]}]
    with pytest.raises(BadInput, match=r"moves\.0\.seconds"):
        validate(Moves, {**MOVES, "moves": short}, source="test")
