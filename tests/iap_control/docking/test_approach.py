# SPDX-License-Identifier: BSD-3-Clause
"""The approach of a scripted docking by its parts: where it begins, when it enters and backs off, how a pair stops."""

import numpy as np
import pytest

from iap_control.docking import approach
from iap_control.docking.vehicle_control import AIM, POSITION, VELOCITY
from iap_description.math import so3
from iap_simulation.docking.pair_laws import pair_laws
from iap_simulation.scenario.resolving import Options, resolve

DT = 0.005


@pytest.fixture(scope="module")
def laws():
    return pair_laws(resolve("docking", Options())[0])


@pytest.mark.parametrize(
    ("progress", "left"), [(-1.0, 1.0), (0.0, 1.0), (0.5, 0.5), (1.0, 0.0), (3.0, 0.0)]
)
def test_an_offset_fades_from_rest_to_rest_with_its_derivatives(progress, left):
    share, rate, pull = approach.offset_share(progress)
    assert share == pytest.approx(left)
    if not 0.0 < progress < 1.0:
        assert rate == pull == 0.0
    for u in (0.2, 0.5, 0.9):
        h = 1e-5
        before, now, after = (approach.offset_share(u + k * h) for k in (-1, 0, 1))
        assert now[1] == pytest.approx((after[0] - before[0]) / (2 * h), abs=1e-8)
        assert now[2] == pytest.approx((after[1] - before[1]) / (2 * h), abs=1e-7)


def test_a_docked_pair_stops_at_what_its_common_velocity_takes_it_to_in_150_ms():
    target, chaser = np.random.default_rng(1).normal(size=(2, AIM + 3))
    places = [each[POSITION : POSITION + 3].copy() for each in (target, chaser)]
    v = 0.5 * (target[VELOCITY : VELOCITY + 3] + chaser[VELOCITY : VELOCITY + 3])
    approach.stop_together(target, chaser)
    for each, place in zip((target, chaser), places, strict=True):
        np.testing.assert_allclose(each[AIM : AIM + 3], place + 0.15 * v, atol=1e-12)


def rows_of(turns=(0.0, 0.0)):
    """State rows of target and chaser, each turned about z [rad]."""
    x = np.zeros((2, 13))
    x[1, :3] = [0.4, 3.0, -0.2]
    for row, turn in zip(x, turns, strict=True):
        row[3:7] = so3.quaternion_exp(np.array([0.0, 0.0, turn]))
    return x


def test_an_approach_begins_with_the_way_along_the_axis_and_the_offset_across_it(laws):
    pair, (target, chaser), state = laws.pair, rows_of(), np.zeros(approach.STATE_SIZE)
    approach.start_approach(target, chaser, pair, state)
    d = chaser[:3] + pair.probe.position - target[:3] - pair.socket.position
    along = d @ pair.socket.axis
    assert state[approach.DISTANCE] == state[approach.LAGGED_DISTANCE] == pytest.approx(along)
    offset = state[approach.OFFSET : approach.OFFSET + 3]
    np.testing.assert_allclose(offset, d - along * pair.socket.axis, atol=1e-12)
    assert (
        offset @ pair.socket.axis == pytest.approx(0.0, abs=1e-12)
        and state[approach.STARTED] == 1.0
    )


def test_axes_and_arms_follow_the_attitudes_with_a_lag_of_200_ms(laws):
    pair, state = laws.pair, np.zeros(approach.STATE_SIZE)
    approach.start_approach(*rows_of(), pair, state)
    target, chaser = rows_of((0.4, -0.3))
    before, share = state.copy(), pair.dt / 0.2
    approach.smooth_arms(target, chaser, pair, state)
    for at, row, arm in (
        (approach.AXIS, target, pair.socket.axis),
        (approach.SOCKET_ARM, target, pair.socket.position),
        (approach.PROBE_ARM, chaser, pair.probe.position),
    ):
        old, now = before[at : at + 3], so3.rotate(row[3:7], arm)
        np.testing.assert_allclose(state[at : at + 3], old + share * (now - old), atol=1e-12)


def decided(script, *, s=0.0, off=0.0, speed=0.0, steps=1, **state):
    """State of a script after some periods at a distance, off the axis, and with a speed across it."""
    row = np.zeros(approach.STATE_SIZE)
    for name, value in state.items():
        row[getattr(approach, name)] = value
    for _ in range(steps):
        approach._decide((s, off, speed), script, row, DT)
    return row


def test_the_probe_enters_once_it_was_aligned_at_the_gate_for_30_ms(laws):
    script = laws.script
    at_gate = {"s": script.gate, "DISTANCE": script.gate, "LAGGED_DISTANCE": script.gate}
    fits = {"off": 0.99 * script.aligned, "speed": 0.99 * script.aligned_speed}
    assert decided(script, steps=5, **at_gate, **fits)[approach.ENTERS] == 0.0
    assert decided(script, steps=8, **at_gate, **fits)[approach.ENTERS] == 1.0
    for bad in ({"off": 1.01 * script.aligned}, {"speed": 1.01 * script.aligned_speed}):
        row = decided(script, steps=20, **at_gate, **{**fits, **bad})
        assert row[approach.ENTERS] == row[approach.ALIGNED] == 0.0


@pytest.mark.parametrize(
    ("off", "lag", "retreats"),
    [
        (0.0, 0.0, False),
        (0.99, 0.0, False),
        (1.01, 0.0, True),
        (0.0, 1.01, True),
        (0.0, 0.99, False),
    ],
)
def test_a_probe_that_is_off_the_axis_or_does_not_follow_backs_off(laws, off, lag, retreats):
    """At four tenths of the way from the gate to the mouth."""
    script = laws.script
    s = 0.4 * script.gate
    row = decided(
        script, s=s, off=off * script.way_off, ENTERS=1.0, LAGGED_DISTANCE=s - lag * script.stuck
    )
    assert (row[approach.RETREATS], row[approach.ENTERS]) == (
        (1.0, 0.0) if retreats else (0.0, 1.0)
    )


@pytest.mark.parametrize(
    ("s", "distance", "ends"), [(0.51, 0.81, True), (0.49, 0.81, False), (0.51, 0.79, False)]
)
def test_a_retreat_ends_where_the_probe_and_its_command_are_back_before_the_gate(
    laws, s, distance, ends
):
    script = laws.script
    row = decided(script, s=s * script.gate, RETREATS=1.0, DISTANCE=distance * script.gate)
    assert row[approach.RETREATS] == (0.0 if ends else 1.0)


def observers_at(s, off=0.0, across=0.0):
    """Memories of target and chaser whose probe's end is at a distance before the mouth, off the axis y, and moves."""
    target, chaser = np.zeros((2, AIM + 3))
    target[POSITION : POSITION + 3], target[VELOCITY : VELOCITY + 3] = (
        [1.0, 2.0, 3.0],
        [0.3, 0.2, 0.1],
    )
    chaser[POSITION : POSITION + 3] = [1.0, 2.0 + s, 3.0 + off]
    chaser[VELOCITY : VELOCITY + 3] = [0.3 + across, -0.7, 0.1]
    return target, chaser


def test_misalignment_is_along_and_off_the_axis_and_its_speed_across_it():
    state = np.zeros(approach.STATE_SIZE)
    state[approach.AXIS + 1] = 1.0
    state[approach.SOCKET_ARM : approach.SOCKET_ARM + 3] = [0.0, 0.1, 0.0]
    state[approach.PROBE_ARM : approach.PROBE_ARM + 3] = [0.0, -0.2, 0.03]
    found = approach._misalignment(observers_at(0.5, 0.01, 0.05), state)
    assert found == pytest.approx((0.5 - 0.3, 0.04, 0.05))


@pytest.mark.parametrize(
    ("beyond", "state", "wanted"),
    [
        (5.0, {}, "cruise"),  # far before the gate
        (0.01, {}, "braking"),
        (0.0, {}, 0.0),  # it waits there
        (-0.01, {"RETREATS": 1.0}, "back"),
        (-0.02, {"ENTERS": 1.0}, "entry"),
    ],
)
def test_the_commanded_distance_falls_by_cruise_braking_waiting_and_entry(
    laws, beyond, state, wanted
):
    script, row = laws.script, np.zeros(approach.STATE_SIZE)
    row[approach.AXIS + 1] = 1.0
    s = script.gate + beyond
    row[approach.DISTANCE] = row[approach.LAGGED_DISTANCE] = s
    for name, value in state.items():
        row[getattr(approach, name)] = value
    speeds = {
        "cruise": -script.cruise,
        "braking": -min(script.cruise, np.sqrt(script.entry**2 + 2.0 * script.brake * 0.01)),
        "entry": -script.entry,
        "back": min(script.entry, script.stiffness * 0.01),
    }
    goal = speeds.get(wanted, wanted)
    row[approach.SPEED] = goal + 0.5 * script.brake * laws.pair.dt  # within one period of it
    observers = observers_at(s, off=0.5 * script.way_off)
    a = approach._advance_distance(script, laws.pair, observers, row)
    assert row[approach.SPEED] == pytest.approx(goal) and a == pytest.approx(-0.5 * script.brake)
    assert row[approach.DISTANCE] == pytest.approx(s + laws.pair.dt * goal)
    row[approach.SPEED] = goal + 9.0  # no faster than it brakes
    a = approach._advance_distance(script, laws.pair, observers, row)
    assert a == pytest.approx(-script.brake)
