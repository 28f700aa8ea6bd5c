# SPDX-License-Identifier: BSD-3-Clause
"""A log's motors and attitudes in open loop: the simulation repeats what it has recorded, or refuses."""

from dataclasses import replace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import QUAD_X, Signal
from iap_io.flight_logs.run_folders import read_run
from iap_simulation.flights.flight import Flight
from iap_simulation.identification.rotorcraft.flight_table import MARGIN, flight_table
from iap_simulation.open_loop.replayed import KINDS, replay_open_loop
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve

SOON = (0.1, 0.25)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """An F450 under velocity commands for a quarter of a minute, with the attitudes it had as set-points, too."""
    folder = tmp_path_factory.mktemp("hovering") / "run"
    record("velocity_steps", folder=folder, duration=14.0)
    (found,) = read_run(folder)
    attitude = found.signals[names.ATTITUDE]
    return found.with_signal(names.ATTITUDE_SETPOINT, attitude)


def plant(platform="f450", *assignments):
    options = Options(platform=platform, engine="closed_form", assignments=assignments)
    return Flight.of(resolve("hover", options)[0]).spec


@pytest.fixture(scope="module")
def f450():
    return plant()


@pytest.fixture(scope="module")
def by_motors(log, f450):
    return replay_open_loop(log, "motors", f450, SOON)


def test_step_responses_of_the_log_and_of_the_platform_are_found_from_its_set_points(log, f450):
    """Its set-points are its own attitudes: the recorded response is a step, that of the platform lags behind."""
    steps = replay_open_loop(log, "attitude", f450, SOON).steps
    assert set(steps) == {"roll", "pitch"}
    for recorded, simulated in steps.values():
        assert recorded.rise_time < 0.03
        assert 0.05 < simulated.rise_time < 0.15
    assert replay_open_loop(log, "motors", f450, SOON).steps == {}


def test_motors_repeat_the_flight_that_they_made(by_motors):
    for each in by_motors.horizons:
        model, stays, rate_held = each.attitude_deg
        assert model < 0.1 * min(stays, rate_held)
        assert each.velocity[0] < 0.05 * each.velocity[1]
        assert each.position[0] < 0.05 * each.position[1]


def test_motors_in_another_order_are_put_in_the_order_of_the_platform(log, f450, by_motors):
    order = [3, 0, 1, 2]
    motors = log.signals[names.MOTORS]
    other = replace(
        log.with_signal(names.MOTORS, replace(motors, values=motors.values[:, order])),
        motor_places=tuple(QUAD_X[i] for i in order),
    )
    again = replay_open_loop(other, "motors", f450, SOON)
    assert again.horizons == by_motors.horizons


def test_a_heavier_vehicle_hovers_at_the_same_command(log, by_motors):
    heavy = plant("f450", "platform.aircraft.mass=2.0")
    again = replay_open_loop(log, "motors", heavy, SOON)
    for each, other in zip(again.horizons, by_motors.horizons, strict=True):
        assert each.velocity[0] == pytest.approx(other.velocity[0], abs=0.03 * other.velocity[1])


def test_a_steady_push_is_taken_from_the_time_before_each_window(log, f450):
    """A force that the model does not know: a constant acceleration of 0.3 m/s^2 in all of the recorded motion."""
    push = np.array([0.3, 0.0, 0.0])
    t = log.signals[names.POSITION].t
    late = (t - t[0])[:, None]
    moved = {
        names.POSITION: log.signals[names.POSITION].values + 0.5 * push * late**2,
        names.VELOCITY: log.signals[names.VELOCITY].values + push * late,
    }
    pushed = log
    for name, values in moved.items():
        pushed = pushed.with_signal(name, replace(log.signals[name], values=values))
    (row,) = replay_open_loop(pushed, "attitude", f450, (0.25,)).horizons
    (calm,) = replay_open_loop(log, "attitude", f450, (0.25,)).horizons
    assert row.velocity[0] == pytest.approx(calm.velocity[0], abs=0.2 * 0.25 * 0.3)


def test_attitudes_are_flown_in_one_piece_within_the_autopilots_lag(log, f450):
    replay = replay_open_loop(log, "attitude", f450, SOON)
    t, q = replay.table.t, replay.table.q
    assert replay.whole.shape == (len(t), 13)
    behind = so3.normalized(replay.whole[30:, Q])
    as_commanded = np.abs((behind * q[:-30]).sum(axis=1)).mean()
    assert as_commanded > np.abs((behind * q[30:]).sum(axis=1)).mean()  # 0.15 s late, not in step
    assert replay.tilt.response < replay.tilt.tilt
    assert replay.fitted.response < 0.2  # the set-points are the attitudes themselves


def test_a_step_is_answered_as_the_gains_of_px4_say(log):
    """Second order with k_R = 130 1/s^2 and k_w = 20 1/s, behind rotors of 40 and 60 ms."""
    t = log.signals[names.ATTITUDE].t
    roll = np.where((t > 6.0) & (t < 8.0), 0.2, 0.0)
    q = so3.quaternion_exp(np.column_stack([roll, 0.0 * t, 0.0 * t]))
    stepped = log.with_signal(
        names.ATTITUDE_SETPOINT, replace(log.signals[names.ATTITUDE_SETPOINT], values=q)
    )
    truth = ("control.gains.autopilot.estimator=null",)
    options = Options(platform="f450", gains="px4", engine="closed_form", assignments=truth)
    spec = Flight.of(resolve("hover", options)[0]).spec
    replay = replay_open_loop(stepped, "attitude", spec, SOON)
    lean = so3.quaternion_log(replay.whole[:, Q])[:, 0]
    late = replay.table.t - 6.0
    at = [float(np.interp(x, late, lean)) / 0.2 for x in (0.05, 0.2, 1.0)]
    assert at[0] < 0.2 and 0.4 < at[1] < 0.9 and at[2] == pytest.approx(1.0, abs=0.01)
    inside = (late > 0.0) & (late < 2.0)
    assert lean[inside].max() < 0.2 * 1.2


@pytest.mark.parametrize(("across", "ends"), [(200.0, True), (0.0, False)])
def test_a_blow_across_the_rotors_ends_a_flight_and_hard_thrust_does_not(log, across, ends):
    force = log.signals[names.SPECIFIC_FORCE]
    hit = force.values.copy()
    late = (force.t > 13.5) & (force.t < 13.6)
    hit[late] += [across, 0.0, 60.0]
    table = flight_table(log.with_signal(names.SPECIFIC_FORCE, replace(force, values=hit)))
    whole = flight_table(log)
    assert (table.t[-1] < 13.5 - MARGIN) == ends
    assert table.t[-1] <= whole.t[-1]


def test_what_a_log_does_not_have_is_refused_by_name(log, f450):
    for what, name in (("motors", names.MOTORS), ("attitude", names.ATTITUDE_SETPOINT)):
        t = log.signals[names.MOTORS].t
        torque = Signal(t, 0.01 * np.sin(t[:, None] + [0.0, 1.0, 2.0]), "", "")
        bare = log.without("as a test", name).with_signal(names.TORQUE, torque)
        with pytest.raises(BadInput, match="as a test"):
            replay_open_loop(bare, what, f450, SOON)


def test_motors_whose_places_are_not_known_are_refused(log, f450):
    with pytest.raises(BadInput, match="where its motors are"):
        replay_open_loop(replace(log, motor_places=None), "motors", f450, SOON)
    six = replace(log, rotors=6)
    with pytest.raises(BadInput, match="6 rotors; 4 are flown"):
        replay_open_loop(six, "motors", f450, SOON)
    plus = ((1, 0), (-1, 0), (0, 1), (0, -1))
    with pytest.raises(BadInput, match="X frames alone"):
        replay_open_loop(replace(log, motor_places=plus), "motors", f450, SOON)


@pytest.mark.parametrize("what", KINDS)
def test_platforms_of_several_aircraft_are_refused(log, what):
    with pytest.raises(BadInput, match="3 aircraft.*--platform f450"):
        replay_open_loop(log, what, plant("three_star"), SOON)
