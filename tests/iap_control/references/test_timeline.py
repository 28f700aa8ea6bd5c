# SPDX-License-Identifier: BSD-3-Clause
"""A whole flight's references: what leads into a motion, take-off and landing."""

import tracemalloc

import numpy as np
import pytest
from flying import scenario_of

from iap_control.references import timeline
from iap_control.references.rows import approach, hold, quintic
from iap_control.references.timeline import Leads, build
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W, Level
from iap_simulation.vehicles.vehicle import Vehicle

DT = 0.005
MOVING = ["three_star_spiral", "figure_eight", "three_line_5dof", "two_line_circle"]
every_moving = pytest.mark.parametrize("name", MOVING)


def motion_of(name):
    return scenario_of(name).vehicles[0].reference


def built(name, lead_in=3.0, ground_height=None):
    motion = motion_of(name)
    return timeline.build(
        motion.rows,
        motion.duration,
        Leads(lead_in, ground_height, 1.6),
        DT,
        score_leads=True,
    )


def rows_of(line):
    return line.rows(0, line.count)


def assert_consistent(rows):
    """Values follow from their derivatives by central differences; jerk may jump where pieces join."""
    middle = np.arange(1, len(rows) - 1)
    before, now, after = rows[middle - 1], rows[middle], rows[middle + 1]
    for value, rate, limit in (
        (REF_P, REF_V, 1e-4),
        (REF_V, REF_A, 1e-2),
        (REF_W, REF_ALPHA, 1e-2),
    ):
        slope = (after[:, value] - before[:, value]) / (2.0 * DT)
        np.testing.assert_allclose(now[:, rate], slope, atol=limit)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(before[:, REF_Q]), after[:, REF_Q]))
    np.testing.assert_allclose(now[:, REF_W], turn / (2.0 * DT), atol=1e-4)


@every_moving
def test_a_flight_starts_at_rest_at_the_motion_s_first_pose(name):
    first, motion = built(name).row(0), motion_of(name).rows(np.zeros(1))[0]
    np.testing.assert_allclose(first[REF_P], motion[REF_P], atol=1e-12)
    np.testing.assert_allclose(first[REF_Q], motion[REF_Q], atol=1e-12)
    np.testing.assert_allclose(first[7:], 0.0, atol=1e-9)


@every_moving
def test_the_lead_in_takes_three_seconds_and_then_the_motion_itself_is_flown(name):
    line, motion = built(name), motion_of(name)
    assert line.lead == pytest.approx(3.0)
    t = np.arange(0.0, 10.0, DT)
    np.testing.assert_allclose(line.rows(600, 600 + len(t)), motion.rows(t), atol=1e-12)
    assert line.duration == pytest.approx(motion.duration + 3.0)


@every_moving
def test_the_lead_in_joins_the_motion_in_value_velocity_and_acceleration(name):
    line = built(name)
    before, joint = line.rows(598, 600), line.row(600)
    ahead = 2.0 * before[1] - before[0]  # straight on from the last two rows
    for columns, limit in (
        (REF_P, 1e-4),
        (REF_V, 1e-3),
        (REF_W, 1e-3),
        (REF_A, 1e-2),
        (REF_ALPHA, 1e-2),
    ):
        np.testing.assert_allclose(joint[columns], ahead[columns], atol=limit)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(before[1, REF_Q]), joint[REF_Q]))
    np.testing.assert_allclose(turn / DT, joint[REF_W], atol=1e-3)


@every_moving
def test_the_lead_in_is_consistent_with_its_derivatives(name):
    assert_consistent(built(name).rows(0, 600))


def test_without_a_lead_in_the_motion_starts_at_once():
    line = built("figure_eight", lead_in=0.0)
    assert line.lead == 0.0
    assert np.linalg.norm(line.row(0)[REF_V]) > 1.0


def test_an_approach_reaches_pose_velocity_and_acceleration_of_its_end():
    """At the end itself, one sample after the last row: a large turn with rate and acceleration."""
    start, end = np.zeros(19), np.zeros(19)
    start[6] = 1.0
    end[REF_P], end[REF_V], end[REF_A] = (1.0, -2.0, 0.5), (0.3, 0.1, -0.2), (0.1, 0.0, 0.3)
    end[REF_Q] = so3.quaternion_exp(np.array([0.8, -0.5, 1.2]))
    end[REF_W], end[REF_ALPHA] = (0.2, -0.1, 0.3), (0.05, 0.1, -0.1)
    rows = approach(np.array([0.0, 4.0]), 4.0, start, end)
    np.testing.assert_allclose(rows[0], start, atol=1e-9)
    np.testing.assert_allclose(rows[1], end, atol=1e-6)
    between = approach(np.arange(0.0, 4.0, DT), 4.0, start, end)
    assert_consistent(between)
    end[REF_W] = (2.0, -1.5, 1.0)  # about other axes than on the way
    assert_consistent(approach(np.arange(0.0, 4.0, DT), 4.0, start, end))


def test_a_quintic_meets_all_six_boundary_values():
    start, end = np.random.default_rng(1).normal(size=(2, 3, 3))
    values = quintic(np.array([0.0, 2.5]), 2.5, start, end)
    for order in range(3):
        np.testing.assert_allclose(values[order], [start[order], end[order]], atol=1e-10)


def test_rows_of_a_hold_keep_pose_and_headings_and_stand_still():
    row = np.arange(1.0, 23.0)
    rows = hold(row, 3)
    np.testing.assert_array_equal(rows[:, :7], np.tile(row[:7], (3, 1)))
    np.testing.assert_array_equal(rows[:, 7:19], 0.0)
    np.testing.assert_array_equal(rows[:, 19:], np.tile(row[19:], (3, 1)))


def test_errors_count_from_the_first_row_when_the_flight_starts_in_the_air():
    assert built("figure_eight").window == (0.0, 99.0)


# --- take-off and landing ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def ground():
    """Figure-eight from the ground: it ends tilted and moving, the hardest landing."""
    return built("figure_eight", ground_height=0.25)


@pytest.fixture(scope="module")
def landed(ground):
    """All of its rows."""
    return rows_of(ground)


def test_the_platform_stands_before_it_climbs(landed):
    np.testing.assert_allclose(landed[:200, 2], 0.25)
    np.testing.assert_allclose(landed[:200, 7:], 0.0)


def test_the_reference_ends_at_rest_so_deep_that_a_biased_place_touches_the_ground(landed):
    np.testing.assert_allclose(landed[-200:, 7:], 0.0)
    assert landed[-1, 2] < 0.25 - 0.2


@pytest.mark.parametrize("height", [0.3, 1.5, 20.0])
def test_the_reference_comes_to_the_ground_slowly_from_any_height(height):
    """From less than the flare's height, too; speeds within 8 cm of where the platform stands count."""
    start = motion_of("figure_eight").rows(np.zeros(1))[0]
    start[2], start[7:] = height, 0.0
    leads = Leads(0.0, 0.25, 1.6)
    line = build(lambda t: np.tile(start, (len(t), 1)), 1.0, leads, DT, score_leads=True)
    rows = rows_of(line)[round((line.lead + 1.0) / DT) :]
    near = np.abs(rows[:, 2] - 0.25) < 0.08
    assert near.any()
    assert np.abs(rows[near, 9]).max() < 0.09


@pytest.mark.parametrize("mass", [1.6, 5.9, 9.1, 20.3])
def test_a_heavy_platform_touches_no_harder_than_a_light_one(mass):
    """A rigid contact of restitution 0.1 that ends within 5 ms has a mean force below 100 N."""
    start = motion_of("figure_eight").rows(np.zeros(1))[0]
    start[2], start[7:] = 1.5, 0.0
    leads = Leads(0.0, 0.25, mass)
    rows = rows_of(build(lambda t: np.tile(start, (len(t), 1)), 1.0, leads, DT, score_leads=True))
    touch = np.flatnonzero((rows[:, 2] < 0.25) & (rows[:, 9] < 0.0))[0]
    assert mass * -rows[touch, 9] * 1.1 / 0.005 < 100.0
    assert rows[-1, 2] < 0.25 - 0.2
    np.testing.assert_allclose(rows[-1, 7:], 0.0)


def test_no_reference_gives_up_the_pose(ground):
    """Rotors are ended by what the vehicle senses, never by the time alone."""
    assert {ground.level(k) for k in range(ground.count)} == {Level.POSE}


def test_the_platform_stands_and_lands_level_with_the_yaw_it_has(landed):
    for row, motion in ((landed[0], 0), (landed[-1], -1)):
        angles = so3.euler_from_matrix(so3.matrix_from_quaternion(row[REF_Q]))
        np.testing.assert_allclose(angles[:2], 0.0, atol=1e-12)
        moving = motion_of("figure_eight").rows(np.array([0.0, 96.0]))[motion]
        yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(moving[REF_Q]))[2]
        assert angles[2] == pytest.approx(yaw)


def test_take_off_and_landing_are_consistent_with_their_derivatives(ground, landed):
    """But for the corners of the motion itself, in which it is not what is tested."""
    begin = round(ground.lead / DT)
    end = begin + round(96.0 / DT)
    assert_consistent(landed[:begin])
    assert_consistent(landed[end + 2 :])


def test_the_landing_takes_over_the_motion_s_velocity(ground, landed):
    end = round(ground.lead / DT) + round(96.0 / DT)
    last, after = landed[end], landed[end + 1]
    assert np.linalg.norm(last[REF_V]) > 1.0
    np.testing.assert_allclose(after[REF_V], last[REF_V], atol=0.02)
    np.testing.assert_allclose(after[REF_P] - last[REF_P], DT * last[REF_V], atol=1e-4)
    np.testing.assert_allclose(after[REF_W], last[REF_W], atol=0.02)


def test_errors_of_a_flight_from_the_ground_count_over_the_motion_alone(ground):
    assert ground.window == pytest.approx((ground.lead, ground.lead + 96.0))


# --- made as they are flown ---------------------------------------------------------------------


@pytest.mark.parametrize("ground_height", [None, 0.25])
@every_moving
def test_rows_do_not_depend_on_how_many_are_made_at_once(name, ground_height):
    line = built(name, ground_height=ground_height)
    whole = rows_of(line)
    for k in (0, 1, 511, 512, 599, 600, 601, line.count // 2, line.last - 1, line.last):
        np.testing.assert_array_equal(line.row(k), whole[k])
        np.testing.assert_array_equal(line.rows(k, k + 1)[0], whole[k])


@pytest.mark.parametrize(
    "sets", ["duration=1e9", "reference.duration=1e9", "start.lead_in=1e9"], ids=str
)
def test_thirty_years_take_no_more_memory_than_a_minute(sets):
    scenario = scenario_of("hover", sets)
    tracemalloc.start()
    line = Vehicle.of(scenario, scenario.vehicles[0]).timeline
    for k in (0, line.count // 2, line.last):
        np.testing.assert_allclose(line.row(k)[:3], [0.0, 0.0, 1.5], atol=1e-6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert line.duration >= 1e9
    assert peak < 50e6  # most of it the machine code that is loaded


def test_a_billion_laps_are_flown_one_by_one():
    laps = scenario_of("figure_eight", "reference.laps=10000000").vehicles[0].reference
    few = motion_of("figure_eight")
    later = 48.0 * 9_999_999
    np.testing.assert_allclose(
        laps.rows(later + np.arange(8.0)), few.rows(np.arange(8.0)), atol=1e-6
    )


@pytest.mark.parametrize(
    ("sets", "key"),
    [
        ("duration=1e12", "duration"),
        ("reference.duration=1e12", "reference"),
        ("start.lead_in=1e12", "start.lead_in"),
    ],
)
def test_what_no_stamp_can_say_is_refused_with_its_key(sets, key):
    scenario = scenario_of("hover", sets)
    with pytest.raises(BadInput, match=f"key '{key}': lasts 1e\\+12 s"):
        Vehicle.of(scenario, scenario.vehicles[0])


# --- a vehicle's own timeline ------------------------------------------------------------------


def test_a_shorter_duration_cuts_the_flight():
    line = Vehicle.of(s := scenario_of("figure_eight", duration=5.0), s.vehicles[0]).timeline
    assert line.duration == pytest.approx(5.0)
    assert len(rows_of(line)) == line.count == 1001


def test_a_flight_that_is_cut_keeps_the_goal_of_the_whole():
    whole = built("figure_eight")
    np.testing.assert_array_equal(whole.goal, whole.row(whole.last))
    np.testing.assert_array_equal(whole.cut(1.0).goal, whole.goal)
    longer = whole.cut(whole.duration + 1.0)
    np.testing.assert_allclose(longer.goal[:7], whole.goal[:7], atol=1e-12)


def test_a_longer_duration_holds_the_last_pose():
    line = Vehicle.of(s := scenario_of("hover", duration=20.0), s.vehicles[0]).timeline
    assert line.duration == pytest.approx(20.0)
    np.testing.assert_allclose(line.row(line.last), line.row(2000), atol=1e-12)
    np.testing.assert_allclose(line.rows(2700, line.count)[:, 7:19], 0.0)


def test_an_offset_shifts_all_references():
    plain, shifted = (
        Vehicle.of(s := scenario_of("hover", *sets), s.vehicles[0]).timeline
        for sets in ((), ("offset=[1.0,-2.0,0.5]",))
    )
    np.testing.assert_allclose(
        rows_of(shifted)[:, :3] - rows_of(plain)[:, :3],
        np.tile([1.0, -2.0, 0.5], (plain.count, 1)),
    )


def test_headings_follow_the_platform_s_yaw_and_each_mount():
    pilot = Vehicle.of(s := scenario_of("three_star_spiral"), s.vehicles[0])
    rows = rows_of(pilot.timeline)
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(rows[:, REF_Q]))[:, 2]
    expected = yaw[:, None] + np.deg2rad([0.0, 120.0, -120.0])
    np.testing.assert_allclose(rows[:, 19:], expected, atol=1e-9)


def test_reference_headings_are_those_of_the_scenario():
    sets = ("control.yaw=reference", "control.aircraft_yaw_deg=[10.0,20.0,30.0]")
    pilot = Vehicle.of(s := scenario_of("hover", *sets), s.vehicles[0])
    np.testing.assert_allclose(
        np.rad2deg(rows_of(pilot.timeline)[:, 19:]), np.tile([10.0, 20.0, 30.0], (2601, 1))
    )


def test_the_last_reference_is_held_after_the_end():
    pilot = Vehicle.of(s := scenario_of("hover", duration=1.0), s.vehicles[0])
    np.testing.assert_array_equal(pilot.reference(10_000).row, pilot.reference(200).row)
