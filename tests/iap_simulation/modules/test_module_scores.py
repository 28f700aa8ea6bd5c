# SPDX-License-Identifier: BSD-3-Clause
"""Scores of modules after a flight: seconds over which wrenches and errors count, and why a mission failed."""

import numpy as np
import pytest
from support.module_joints import spec_of

from iap_control.modules.exchange import JointEvent, JointState, LatchOrder
from iap_control.modules.joint_states import STATES
from iap_control.modules.losses import ModuleLoss
from iap_description.vehicles.latching import LatchCommand
from iap_simulation.modules import scores
from iap_simulation.modules.scores import Course, ModulesScores

JOINTS = {
    "j": {"leader": "m1", "face": "+x", "follower": "m2"},
    "k": {"leader": "m2", "face": "+x", "follower": "m3"},
}
NAMES = ["m1", "m2", "m3"]
SPEC = spec_of(JOINTS, mission=[{"join": "j"}, {"hover": 1.0}])
WINDOW = (10.0, 90.0)  # of the flight, on the ground before and after
CAUGHT, JOINED, RELEASED = 20.0, 22.0, 60.0
T = np.arange(0.0, 100.0, 0.025)


def course(**changes):
    orders = [
        (CAUGHT - 5.0, LatchOrder("j", LatchCommand.CATCH)),  # a first attempt
        (CAUGHT, LatchOrder("j", LatchCommand.CATCH)),
        (RELEASED, LatchOrder("j", LatchCommand.RELEASE)),
    ]
    events = [JointEvent(JOINED, "j", JointState.JOINED)]
    losses = [ModuleLoss(50.0, "m3", "m2")]
    return Course(2, None, {"j": 1, "k": 0}, losses, events, orders)._replace(**changes)


def metrics(**changes):
    """Of a flight in which joint j bears (t, 0, 0) N while it is joined, and a larger wrench on the ground."""
    states = np.full((len(T), 2), STATES.index(JointState.APART))
    states[(T > CAUGHT) & (T <= RELEASED), 0] = STATES.index(JointState.JOINED)
    wrenches = np.zeros((len(T), 2, 6))
    wrenches[:, 0, 0], wrenches[:, 0, 5] = T, -0.1 * T
    wrenches[T < WINDOW[0], 0, 0], wrenches[T > WINDOW[1], 0, 0] = 500.0, 700.0
    wrenches[(T >= 30.0) & (T < 30.02), 0, 1] = 200.0  # one jerk
    errors = np.zeros((len(T), 3, 6))
    errors[:, 0, 0], errors[:, 1, 1] = 0.003, np.where(T > 60.0, 0.004, 0.0)
    errors[T < WINDOW[0]] = errors[T > WINDOW[1]] = 9.0
    errors[(T > 60.5) & (T < 60.55), 1, 3] = -0.02
    errors[(T > 61.5) & (T < 61.55), 1, 3] = 0.2  # later than what belongs to the release
    columns = {"t": T, "states": states, "joint_wrenches": wrenches, "errors": errors}
    return ModulesScores(SPEC, NAMES, WINDOW, columns, course(**changes)).metrics()


def test_wrenches_count_over_the_last_and_the_first_ten_seconds_of_a_joint():
    found = metrics()
    joint, never = found["joints"]["j"], found["joints"]["k"]
    assert joint["force_n"] == pytest.approx(55.0, abs=0.02)
    assert joint["torque_nm"] == pytest.approx(5.5, abs=0.002)
    np.testing.assert_allclose(
        joint["wrench"], [joint["force_n"], 0, 0, 0, 0, -joint["torque_nm"]]
    )
    first = 25.0 + 0.025
    assert joint["force_first_n"] == pytest.approx(first, abs=0.02)
    assert joint["force_after_catch_n"] == pytest.approx(CAUGHT + 3.0, abs=0.02)
    assert joint["force_peak_n"] == pytest.approx(np.hypot(30.0, 200.0))
    assert (never["force_n"], never["torque_nm"], never["wrench"]) == (None, None, None)
    assert found["joint_force_n"] == joint["force_n"]
    assert found["joint_torque_nm"] == joint["torque_nm"]


def test_times_are_those_of_the_last_orders():
    joints = metrics()["joints"]
    assert (joints["j"]["caught_s"], joints["j"]["released_s"]) == (CAUGHT, RELEASED)
    assert (joints["k"]["caught_s"], joints["k"]["released_s"]) == (None, None)
    assert (joints["j"]["returns"], joints["k"]["returns"]) == (1, 0)


def test_after_a_release_the_largest_error_of_both_modules_counts_for_a_second():
    joints = metrics()["joints"]
    assert joints["j"]["released"]["position_m"] == pytest.approx(0.004)
    assert joints["j"]["released"]["rotation_rad"] == pytest.approx(0.02)
    assert joints["k"]["released"] is None


def test_errors_count_in_the_air_and_steady_ones_at_its_end():
    found = metrics()
    assert list(found["rmse"]) == NAMES
    assert found["rmse"]["m1"][0] == pytest.approx(0.003)
    assert found["rmse"]["m2"][1] == pytest.approx(0.004 * np.sqrt(30.0 / 80.0), rel=1e-3)
    assert found["rmse_steady"]["m2"][1] == pytest.approx(0.004, rel=1e-3)
    assert found["rmse"]["m3"] == [0.0] * 6


def test_what_happened_is_reported_with_its_time():
    found = metrics()
    assert found["lost"] == [{"t": 50.0, "module": "m3", "leader": "m2"}]
    assert found["events"] == [{"t_s": JOINED, "joint": "j", "state": "joined"}]
    assert found["mission_done"]
    assert not metrics(steps_done=1)["mission_done"]


def test_a_mission_fails_by_what_failed_first_or_by_the_step_that_was_not_done():
    assert course().why_missed(SPEC) is None
    assert course(failure="m2 hit a wall").why_missed(SPEC) == "m2 hit a wall"
    late = course(steps_done=1).why_missed(SPEC)
    assert late == "key 'modules.mission': step 1 was not done before the flight's end"


def test_sizes_of_wrenches_are_of_their_mean_and_of_their_root_mean_square():
    vectors = np.array([[3.0, 4.0, 0.0], [-3.0, 4.0, 0.0], [0.0, 1.0, 0.0]])
    assert scores._mean_size(vectors) == pytest.approx(3.0)
    assert scores._rms_size(vectors) == pytest.approx(np.sqrt((25.0 + 25.0 + 1.0) / 3.0))
    assert scores._mean_size(vectors[:0]) is scores._rms_size(vectors[:0]) is None
    found = metrics()["joints"]["j"]
    late = T[(T > 50.0) & (T <= 60.0)]  # the last ten seconds in which it is joined
    assert found["force_rms_n"] == pytest.approx(np.sqrt(np.mean(late**2)), abs=0.02)
    assert found["torque_rms_nm"] == pytest.approx(0.1 * found["force_rms_n"])


def test_spans_begin_behind_their_instant_and_hold_their_end():
    t = np.array([1.0, 3.5, 3.51, 4.5, 4.51])
    np.testing.assert_array_equal(scores._within(t, 1.0, scores.CATCH_SPAN), [0, 0, 1, 1, 0])
    assert not scores._within(t, None, scores.CATCH_SPAN).any()
    assert scores._worst({"j": {"f": None}, "k": {"f": 2.0}, "l": {"f": 3.0}}, "f") == 3.0
    assert scores._worst({"j": {"f": None}}, "f") is None


def test_a_flight_without_rows_in_the_air_has_no_errors():
    wrenches, errors = np.ones((5, 2, 6)), np.ones((5, 3, 6))
    columns = {
        "t": T[:5],
        "states": np.zeros((5, 2)),
        "joint_wrenches": wrenches,
        "errors": errors,
    }
    found = ModulesScores(SPEC, NAMES, WINDOW, columns, course()).metrics()
    assert found["rmse"] == found["rmse_steady"] == dict.fromkeys(NAMES)
    assert found["joints"]["j"]["force_peak_n"] == 0.0 and found["joint_force_n"] is None


def test_forces_are_the_first_three_numbers_of_a_wrench_and_torques_the_others():
    states = np.full((len(T), 2), STATES.index(JointState.JOINED))
    wrenches = np.tile([1.0, 2.0, 2.0, 12.0, 4.0, 3.0], (len(T), 2, 1))
    columns = {
        "t": T,
        "states": states,
        "joint_wrenches": wrenches,
        "errors": np.zeros((len(T), 3, 6)),
    }
    joint = ModulesScores(SPEC, NAMES, WINDOW, columns, course()).metrics()["joints"]["k"]
    forces = [joint[f"force_{key}n"] for key in ("", "first_", "rms_", "peak_")]
    assert forces == pytest.approx([3.0] * 4)
    assert (joint["torque_nm"], joint["torque_rms_nm"]) == pytest.approx((13.0, 13.0))
    assert joint["force_after_catch_n"] is None and joint["wrench"] == [
        1.0,
        2.0,
        2.0,
        12.0,
        4.0,
        3.0,
    ]
