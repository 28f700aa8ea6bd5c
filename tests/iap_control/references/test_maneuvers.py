# SPDX-License-Identifier: BSD-3-Clause
"""Take-off, landing and ways to a place that are asked for while a reference is played."""

import numpy as np
import pytest

from iap_control.references.maneuvers import Maneuvers
from iap_control.references.player import Player
from iap_control.references.timeline import Leads, build
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_FIXED, REF_P, REF_Q, REF_V, REF_W, Level

DT, GROUND, MOUNTS = 0.005, 0.25, np.array([0.0, 2.0, -2.0])
ON_GROUND = Maneuvers(Leads(0.0, GROUND, 5.9), DT, MOUNTS)
IN_AIR = Maneuvers(Leads(0.0, None, 5.9), DT, MOUNTS)


def row(x=0.0, y=0.0, z=1.0, yaw=0.0, v=(0.0, 0.0, 0.0), w=(0.0, 0.0, 0.0)):
    out = np.zeros(REF_FIXED)
    out[REF_P], out[REF_V], out[REF_W] = (x, y, z), v, w
    out[REF_Q] = so3.quaternion_exp(np.array([0.0, 0.0, yaw]))
    return out


def rows_of(line):
    return line.rows(0, line.count)


def yaw_of(one):
    return so3.euler_from_matrix(so3.matrix_from_quaternion(one[REF_Q]))[2]


def test_a_way_begins_with_the_present_motion_and_ends_at_rest_in_the_goal_in_time():
    now = row(1.0, 2.0, 3.0, 0.4, v=(0.5, -0.3, 0.2), w=(0.0, 0.0, 0.2))
    line = ON_GROUND.go_to(now, np.array([2.0, 2.5, 2.0]), 1.5, 6.0, relative=False)
    rows = rows_of(line)
    assert line.count * DT == pytest.approx(6.0)
    np.testing.assert_allclose(rows[0, REF_P], now[REF_P] + DT * now[REF_V], atol=1e-6)
    np.testing.assert_allclose(rows[0, 7:13], now[7:13], atol=1e-3)
    np.testing.assert_allclose(rows[-1, REF_P], (2.0, 2.5, 2.0), atol=1e-12)
    np.testing.assert_allclose(rows[-1, 7:REF_FIXED], 0.0, atol=1e-12)
    assert yaw_of(rows[-1]) == pytest.approx(1.5)
    np.testing.assert_allclose(rows[-1, REF_FIXED:], 1.5 + MOUNTS)
    velocities = np.diff(rows[:, REF_P], axis=0) / DT
    np.testing.assert_allclose(velocities, 0.5 * (rows[1:, REF_V] + rows[:-1, REF_V]), atol=1e-4)


def test_a_relative_goal_is_added_to_the_present_place_and_heading():
    now = row(1.0, 2.0, 3.0, 3.0)
    line = IN_AIR.go_to(now, np.array([0.5, 0.0, -1.0]), 1.0, 4.0, relative=True)
    np.testing.assert_allclose(line.goal[REF_P], (1.5, 2.0, 2.0), atol=1e-12)
    assert yaw_of(line.goal) == pytest.approx(4.0 - 2.0 * np.pi)


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_a_way_that_is_asked_for_too_fast_takes_longer(speed):
    """A quintic over a distance d from rest reaches 5.77 d / T^2, which shall stay below 2 m/s^2."""
    line = IN_AIR.go_to(
        row(v=(-speed, 0.0, 0.0)), np.array([10.0, 0.0, 1.0]), 0.0, 0.0, relative=False
    )
    sizes = np.linalg.norm(rows_of(line)[:, REF_A], axis=1)
    assert 1.6 < sizes.max() < 2.01
    if speed == 0.0:
        assert line.duration == pytest.approx(np.sqrt(5.77 * 10.0 / 2.0), rel=0.01)


def test_a_way_lasts_as_its_length_and_its_turn_need_wherever_it_begins():
    """sqrt(5.77 s / a) at 2 m/s^2 and 2 rad/s^2, grown by tenths for what begins in motion."""
    line = IN_AIR.go_to(row(10.0), np.array([20.0, 0.0, 1.0]), 0.0, 0.0, relative=False)
    base = np.sqrt(10.0 / np.sqrt(3.0) * 10.0 / IN_AIR.limits.acceleration)
    tenths = np.log(line.count * DT / base) / np.log(1.1)
    assert tenths == pytest.approx(round(tenths), abs=0.02) and tenths < 1.5
    line = IN_AIR.go_to(row(10.0), np.array([10.0, 0.0, 1.0]), 1.5, 0.0, relative=False)
    base = np.sqrt(10.0 / np.sqrt(3.0) * 1.5 / IN_AIR.limits.angular_acceleration)
    assert line.count * DT == pytest.approx(base, rel=0.11)
    moving = row(v=(-3.0, 0.0, 0.0))
    line = IN_AIR.go_to(moving, np.array([10.0, 0.0, 1.0]), 0.0, 0.0, relative=False)
    base = np.sqrt(10.0 / np.sqrt(3.0) * 10.0 / IN_AIR.limits.acceleration)
    tenths = np.log(line.count * DT / base) / np.log(1.1)
    assert tenths == pytest.approx(round(tenths), abs=0.02) and tenths > 0.9


def test_errors_of_a_maneuver_count_from_its_begin_to_its_last_instant():
    line = IN_AIR.take_off(row(), 3.0, 4.0)
    assert line.window == (0.0, pytest.approx(line.duration))
    assert line.duration == pytest.approx(4.0 - DT)


def test_a_take_off_from_the_ground_spins_up_and_rises_straight_to_the_height():
    rows = rows_of(ON_GROUND.take_off(row(0.3, 0.4, GROUND - 0.24, 0.7), 1.2, 3.0))
    np.testing.assert_allclose(rows[:200, 2], GROUND)
    np.testing.assert_allclose(rows[:, :2], [[0.3, 0.4]] * len(rows), atol=1e-12)
    assert rows[-1, 2] == pytest.approx(1.2)
    assert yaw_of(rows[-1]) == pytest.approx(0.7)


@pytest.mark.parametrize("height", [0.0, 0.04, 0.6])
def test_a_landing_touches_slowly_and_ends_below_the_ground(height):
    rows = rows_of(ON_GROUND.land(row(0.3, 0.4, 2.0, v=(0.5, 0.0, 0.0)), height, 3.0))
    near = np.abs(rows[:, 2] - GROUND) < 0.08
    assert np.abs(rows[near, 9]).max() < 0.08
    assert rows[-1, 2] < GROUND - 0.2
    np.testing.assert_allclose(rows[-1, 7:REF_FIXED], 0.0)
    assert rows[600, 2] == pytest.approx(max(height, GROUND + 0.1), abs=0.02)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (lambda: IN_AIR.land(row(), 0.0, 2.0), "does not end on the ground"),
        (lambda: ON_GROUND.take_off(row(), 0.1, 2.0), "below 0.25 m"),
        (lambda: ON_GROUND.take_off(row(), np.nan, 2.0), "no number"),
        (lambda: ON_GROUND.land(row(), np.nan, 2.0), "no number"),
        (lambda: ON_GROUND.take_off(row(), 1.0, -1.0), "duration: -1 s"),
        (
            lambda: IN_AIR.take_off(row(v=(9e3, 0.0, 0.0)), 1.0, 3600.0),
            "takes more",
        ),
        (
            lambda: IN_AIR.go_to(row(), np.array([1e9, 0, 1]), 0.0, 5.0, relative=False),
            "all bounds",
        ),
        (
            lambda: IN_AIR.go_to(row(), np.array([1, 0, 1]), np.inf, 5.0, relative=False),
            "no number",
        ),
    ],
)
def test_what_cannot_be_flown_is_refused_by_its_reason(plan, words):
    with pytest.raises(BadInput, match=words):
        plan()


# --- beside a timeline --------------------------------------------------------------------------


def moving_player(level=Level.POSE, **options):
    """Of a reference that moves along x by 1 m/s for 10 s, and its start."""
    start = row()

    def motion(t):
        rows = np.tile(row(v=(1.0, 0.0, 0.0)), (len(t), 1))
        rows[:, 0] += t
        return rows

    leads = Leads(0.0, None, 5.9)
    line = build(motion, 10.0, leads, DT, score_leads=True, level=level)
    return Player(line.placed(np.zeros(3), MOUNTS, None), start[:13], **options)


def played(player, times):
    return np.array([player.reference(t, row()[:13])[0].copy() for t in times])


def test_a_maneuver_takes_over_from_the_reference_without_a_jump():
    player = moving_player()
    before = played(player, np.arange(0.0, 1.0, DT))
    player.begin(
        lambda now: IN_AIR.go_to(now, np.array([3.0, 1.0, 1.0]), 0.0, 4.0, relative=False)
    )
    after = played(player, np.arange(1.0, 6.0, DT))
    joined = np.vstack([before[-1:], after])
    steps = np.linalg.norm(np.diff(joined[:, REF_P], axis=0), axis=1)
    assert np.abs(np.diff(steps)).max() < 2.0 * DT**2 * 2.0
    np.testing.assert_allclose(after[-1, REF_P], (3.0, 1.0, 1.0), atol=1e-12)
    assert player.is_over(6.0)


def test_time_that_starts_again_ends_a_maneuver():
    player = moving_player()
    first = played(player, np.arange(0.0, 1.0, DT))
    player.begin(lambda now: IN_AIR.take_off(now, 5.0, 4.0))
    played(player, np.arange(1.0, 2.0, DT))
    np.testing.assert_array_equal(played(player, np.arange(0.0, 1.0, DT)), first)


def test_a_reference_that_is_not_played_waits_in_its_first_pose_for_a_maneuver():
    player = moving_player(plays=False)
    waiting = played(player, np.arange(0.0, 1.0, DT))
    np.testing.assert_allclose(waiting[1:, :7], [row()[:7]] * 199, atol=1e-12)
    np.testing.assert_allclose(waiting[1:, 7:REF_FIXED], 0.0)
    assert not player.is_over(1.0)
    player.begin(lambda now: IN_AIR.take_off(now, 2.0, 2.0))
    assert played(player, np.arange(1.0, 4.0, DT))[-1, 2] == pytest.approx(2.0)


def test_a_maneuver_begins_where_the_platform_is_if_no_pose_is_tracked():
    player = moving_player(level=Level.VELOCITY)
    x = row(5.0, 6.0, 7.0, v=(0.1, 0.2, 0.3))[:13]
    player.reference(0.0, x)
    player.reference(DT, x)
    starts = []

    def plan(now):
        starts.append(now)
        return IN_AIR.take_off(now, 2.0, 2.0)

    player.begin(plan)
    np.testing.assert_allclose(starts[0][:13], x)
    np.testing.assert_allclose(starts[0][13:], 0.0)


def test_a_maneuver_before_the_first_state_is_refused():
    with pytest.raises(BadInput, match="no state"):
        moving_player().begin(lambda now: IN_AIR.take_off(now, 2.0, 2.0))
