# SPDX-License-Identifier: BSD-3-Clause
"""The figures of contact, on made-up recordings whose answers are known."""

import numpy as np
import pytest
from made_up_flights import DT, vehicle_meta

from iap_description.math import so3
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import Bore, RunMeta
from iap_simulation.metrics.contact import DESIRED, FILTERED, RAW, ContactScores, tip_errors_P

TICKS = 4000  # 20 s
TOUCHES_AT, STOP = 5.0, (TICKS - 1) * DT


def made_up(tip=(-1.0, 0.0, 0.0)):
    """Nothing is felt before 5 s, then 5 N along x; the platform stands still at the origin."""
    meta = vehicle_meta("three_star", stop=STOP).model_copy(
        update={"feels": True, "tool_tip_P": tip, "tool_axis_P": (-1.0, 0.0, 0.0)}
    )
    c = Columns.zeros(TICKS, meta)
    c.t[:] = np.arange(TICKS) * DT
    c.x[..., 6] = c.reference[:, 6] = c.wrench_record.tracked[:, 6] = 1.0
    touched = c.t >= TOUCHES_AT
    c.wrench_record.wrenches[touched, RAW, 0] = c.wrench_record.wrenches[touched, FILTERED, 0] = (
        5.0
    )
    return c, meta


def push(c, desired=5.0, axis=0, since=4.0):
    on = c.t >= since
    c.wrench_record.mode[on], c.wrench_record.axes[on, axis] = 2, 1
    c.wrench_record.wrenches[on, DESIRED, axis] = desired


def judge(c, meta, **run):
    """The figures, which do not depend on the pieces that the rows come in."""
    about = {"after_contact": 2.0, "steady": 5.0, **run}
    whole = RunMeta(
        scenario="s", seed=1, physics_hz=1000.0, control_hz=200.0, vehicles=(meta,), **about
    )
    figures, others = (judge_pieces(c, meta, whole, piece) for piece in (TICKS, 333))
    for key, value in figures.items():
        np.testing.assert_allclose(
            np.array(others[key], float), np.array(value, float), rtol=1e-12, atol=1e-12
        )
    return figures


def judge_pieces(c, meta, run, piece):
    scores = ContactScores(meta, run)
    for first in range(0, len(c.t), piece):
        rows = c.rows(slice(first, first + piece))
        scores.add(rows, rows.wrench_record)
    return scores.metrics()


def test_contact_begins_with_the_first_force_and_lasts():
    c, meta = made_up()
    figures = judge(c, meta)
    assert figures["first_contact_s"] == pytest.approx(TOUCHES_AT)
    assert figures["contact_fraction"] == 1.0
    assert figures["force_max_n"] == figures["force_steady_n"] == pytest.approx(5.0)


def test_a_gap_in_the_contact_counts():
    c, meta = made_up()
    c.wrench_record.wrenches[2000:2300, RAW] = 0.0  # 10 to 11.5 s
    figures = judge(c, meta)
    assert figures["contact_fraction"] == pytest.approx(1.0 - 300 / 3000)
    assert figures["contact_losses"] == 1


def test_the_band_counts_on_the_controlled_force_alone():
    c, meta = made_up()
    push(c)
    c.wrench_record.wrenches[1400:1650, FILTERED, 0] = 5.6  # 1.25 of the 13 s that count
    c.wrench_record.wrenches[:, FILTERED, 2] = 9.0
    share = judge(c, meta)["force_band_fraction"]
    assert share == pytest.approx(1.0 - 250 / 2600)


def test_without_contact_there_is_nothing_to_say():
    c, meta = made_up()
    c.wrench_record.wrenches[:] = 0.0
    figures = judge(c, meta)
    assert figures["first_contact_s"] is None
    assert figures["contact_fraction"] is None
    assert np.isnan(figures["force_rmse_n"]).all()


def test_force_errors_count_on_the_wrench_s_axes_and_after_settling_only():
    c, meta = made_up()
    push(c, desired=4.0)
    c.wrench_record.wrenches[1000:1399, FILTERED, 0] = 300.0  # before 2 s after contact
    x, y, z = judge(c, meta)["force_rmse_n"]
    assert x == pytest.approx(1.0)
    assert np.isnan([y, z]).all()


def test_a_wrench_that_is_asked_for_on_a_pose_axis_is_judged_too():
    c, meta = made_up()
    push(c)
    c.wrench_record.wrenches[:, DESIRED, 5] = 4.0
    c.wrench_record.wrenches[:, FILTERED, 5] = 3.5
    assert judge(c, meta)["torque_rmse_nm"][2] == pytest.approx(0.5)


def test_pose_errors_count_on_the_held_axes_in_the_platform_s_frame():
    """Turned by 90 deg, the platform's y is the world's -x."""
    c, meta = made_up()
    push(c)
    turn = so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    c.x[:, 0, 3:7] = c.reference[:, 3:7] = turn
    c.x[:, 0, 1] = 0.3  # along the platform's x, which the wrench has
    c.x[:, 0, 0] = -0.02
    figures = judge(c, meta)
    assert figures["held_position_rmse_m"] == pytest.approx(0.02)
    assert figures["held_attitude_rmse_deg"] == pytest.approx(0.0, abs=1e-9)


def test_the_approach_speed_is_that_of_the_force_axes_while_they_have_the_wrench():
    c, meta = made_up()
    push(c, since=4.0)
    c.x[100, 0, 7], c.x[900, 0, 7], c.x[950, 0, 8] = 2.0, -0.08, 1.0
    assert judge(c, meta)["approach_speed_max_mps"] == pytest.approx(0.08)


def test_a_rod_in_a_leaning_bore_is_as_deep_and_as_far_off_as_it_was_put():
    c, meta = made_up()
    lean = np.deg2rad(15.0)
    axis = np.array([-np.cos(lean), 0.0, -np.sin(lean)])
    q = so3.quaternion_exp(np.array([0.0, -lean, 0.0]))  # the rod points along the bore
    start, aside = np.array([-3.0, 0.0, 2.0]), np.array([0.0, 0.004, 0.0])
    c.x[:, 0, 3:7] = c.wrench_record.tracked[:, 3:7] = q
    c.x[:, 0, :3] = start + (0.5 - 1.0) * axis + aside
    bore = Bore(start=tuple(start), axis=tuple(axis), length=0.48)
    figures = judge(c, meta, bore=bore)
    assert figures["depth_m"] == pytest.approx(0.5)
    np.testing.assert_allclose(figures["bore_offset_m"], 0.004, atol=1e-12)
    assert figures["settled_pitch_deg"] == pytest.approx(15.0)  # the tip is lowered
    assert figures["pitch_command_std_deg"] == pytest.approx(0.0, abs=1e-9)


def test_a_force_at_the_tip_makes_the_torque_of_its_lever():
    c, meta = made_up()
    c.wrench_record.wrenches[:, FILTERED] = [1.5, -4.0, 0.0, 0.0, 0.0, 4.0]
    assert judge(c, meta)["lever_torque_rmse_nm"] == pytest.approx(0.0)
    c.wrench_record.wrenches[:, FILTERED, 5] = 4.3
    assert judge(c, meta)["lever_torque_rmse_nm"] == pytest.approx(0.3)


def test_errors_of_a_tip_are_those_of_its_place_seen_from_the_platform():
    """Both the place and the attitude of the platform move the tip; without a tool nothing has errors."""
    meta = vehicle_meta("three_star")
    assert tip_errors_P(meta, Columns.zeros(2, meta)) is None
    tip = np.array([-1.0, 0.2, 0.1])
    meta = meta.model_copy(update={"tool_tip_P": tuple(tip)})
    rng, c = np.random.default_rng(3), Columns.zeros(5, meta)
    c.x[:, 0, :3], c.reference[:, :3] = rng.normal(size=(2, 5, 3))
    turns = so3.quaternion_exp(rng.normal(size=(2, 5, 3)))
    c.x[:, 0, 3:7], c.reference[:, 3:7] = turns
    R, R_r = so3.matrix_from_quaternion(turns)
    here, there = c.x[:, 0, :3] + R @ tip, c.reference[:, :3] + R_r @ tip
    expected = np.einsum("kji,kj->ki", R, here - there)
    np.testing.assert_allclose(tip_errors_P(meta, c), expected, atol=1e-12)
