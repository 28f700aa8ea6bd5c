# SPDX-License-Identifier: BSD-3-Clause
"""Flights by hand: stick, keyboard, and a joined structure."""

import numpy as np
import pytest

from iap_bringup.teleop.mappings import MAPPINGS, JoystickMapping, KeyboardMapping, load_mapping
from iap_bringup.teleop.stick_reference import (
    RELEASED,
    Demand,
    Keyboard,
    StickReference,
    joystick_demand,
)
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import (
    REF_A,
    REF_ALPHA,
    REF_FIXED,
    REF_P,
    REF_Q,
    REF_V,
    REF_W,
    Level,
    P,
    Q,
)
from iap_simulation.modules.in_flight import ModulesInFlight
from iap_simulation.simulation.simulation import Simulation

DT = 0.005
GAMEPAD = load_mapping(JoystickMapping, "gamepad")
KEYBOARD = load_mapping(KeyboardMapping, "keyboard")
LIMITS = GAMEPAD.limits
DEAD_MAN = [0, 0, 0, 0, 1, 0]
SIZE = 0.52
FORWARD = Demand(np.array([0.3, 0.0, 0.1]), np.array([0.0, 0.0, 0.3]), held=True)
SETTINGS = {
    "modules.count": 3,
    "vehicles.0.start.mode": "hover",
    "vehicles.0.start.lead_in": 0.0,
    "vehicles.*.sensors": "none",
    "vehicles.*.control.state_source": "truth",
}


def at_rest(rpy=(0.0, 0.0, 0.0)):
    """A three-aircraft platform at (1, 2, 3) with its aircraft's headings 0, 120 and -120 deg from its own."""
    x = np.zeros((4, 13))
    x[0, :3] = 1.0, 2.0, 3.0
    x[0, Q] = so3.quaternion_from_matrix(so3.matrix_from_euler(np.array(rpy)))
    for i, yaw in enumerate(np.deg2rad([0.0, 120.0, -120.0]), start=1):
        x[i, Q] = so3.quaternion_exp(np.array([0.0, 0.0, rpy[2] + yaw]))
    return StickReference.at(x)


def flown(hand, demand, seconds, *, follows=True, limits=LIMITS):
    """Rows of a demand held for a time; the platform follows perfectly, or stays where it is."""
    p, rows = hand.row[REF_P].copy(), []
    for _ in range(round(seconds / DT)):
        p = hand.row[REF_P] if follows else p
        hand = hand.moved(demand, DT, limits=limits, p_WP_W=p)
        rows.append(hand.row)
    return hand, np.array(rows)


def tilt(row):
    return np.arccos(so3.matrix_from_quaternion(row[REF_Q])[2, 2])


def test_velocity_is_along_the_axes_of_a_turned_platform():
    demand = Demand(np.array([0.5, 0.0, 0.0]), np.zeros(3), held=True)
    hand, _ = flown(at_rest(rpy=(0.0, 0.0, np.pi / 2)), demand, 4.0)
    lost = 0.5 * 0.5**2 / LIMITS.acceleration  # while it got up to speed
    assert hand.row[REF_P] == pytest.approx([1.0, 2.0 + 2.0 - lost, 3.0], abs=1e-9)
    assert hand.row[REF_V] == pytest.approx([0.0, 0.5, 0.0], abs=1e-9)


def test_yaw_rate_turns_the_platform_and_the_headings_with_it():
    demand = Demand(np.zeros(3), np.array([0.0, 0.0, 0.3]), held=True)
    hand, _ = flown(at_rest(), demand, 2.0)
    yaw = so3.euler_from_matrix(so3.matrix_from_quaternion(hand.row[REF_Q]))[2]
    assert yaw == pytest.approx(0.6, abs=0.3**2 / np.deg2rad(LIMITS.angular_acceleration_deg))
    headings = hand.row[REF_FIXED:] - yaw
    assert headings == pytest.approx(np.deg2rad([0.0, 120.0, -120.0]), abs=1e-9)


def test_feed_forward_is_the_derivative_of_the_pose():
    demand = Demand(np.array([0.4, -0.3, 0.2]), np.array([0.1, 0.0, 0.4]), held=True)
    _, rows = flown(at_rest(), demand, 1.0)
    middle = 0.5 * (rows[1:, REF_V] + rows[:-1, REF_V])
    assert np.diff(rows[:, REF_P], axis=0) / DT == pytest.approx(middle, abs=1e-12)
    assert np.diff(rows[:, REF_V], axis=0) / DT == pytest.approx(rows[1:, REF_A], abs=1e-9)
    turn = so3.quaternion_log(so3.multiply(so3.conjugate(rows[:-1, REF_Q]), rows[1:, REF_Q]))
    assert turn / DT == pytest.approx(0.5 * (rows[1:, REF_W] + rows[:-1, REF_W]), abs=1e-5)
    assert np.diff(rows[:, REF_W], axis=0) / DT == pytest.approx(rows[1:, REF_ALPHA], abs=1e-9)


def test_acceleration_stays_within_its_limit():
    demand = Demand(np.array([1.0, 1.0, 0.5]), np.zeros(3), held=True)
    _, rows = flown(at_rest(), demand, 1.0)
    assert np.linalg.norm(rows[:, REF_A], axis=1).max() == pytest.approx(LIMITS.acceleration)


@pytest.mark.parametrize("rate", [[0.3, 0.0, 0.0], [0.0, -0.3, 0.0], [0.2, 0.2, 0.1]])
def test_tilt_stops_at_its_limit(rate):
    _, rows = flown(at_rest(), Demand(np.zeros(3), np.array(rate), held=True), 4.0)
    tilts = [tilt(row) for row in rows]
    assert max(tilts) == pytest.approx(np.deg2rad(LIMITS.tilt_deg), abs=1e-6)


def test_a_platform_beyond_the_tilt_limit_does_not_jump_and_may_come_back():
    start = at_rest(rpy=(np.deg2rad(40.0), 0.0, 0.0))
    pushed, _ = flown(start, Demand(np.zeros(3), np.array([0.3, 0.0, 0.0]), held=True), 0.5)
    assert tilt(pushed.row) == pytest.approx(np.deg2rad(40.0), abs=1e-6)
    back, _ = flown(pushed, Demand(np.zeros(3), np.array([-0.3, 0.0, 0.0]), held=True), 1.0)
    assert tilt(back.row) < np.deg2rad(30.0)


def test_letting_go_holds_the_present_pose():
    demand = Demand(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.1, 0.5]), held=True)
    moving, _ = flown(at_rest(), demand, 1.0)
    _, rows = flown(moving, RELEASED, 1.0)
    assert (rows[:, : REF_Q.stop] == moving.row[: REF_Q.stop]).all()
    assert (rows[:, REF_FIXED:] == moving.row[REF_FIXED:]).all()
    assert not rows[:, REF_V.start : REF_FIXED].any()


def test_without_the_dead_man_the_sticks_do_nothing():
    demand = Demand(np.ones(3), np.ones(3), held=False)
    hand, _ = flown(at_rest(), demand, 1.0)
    assert (hand.row == at_rest().row).all()


def test_the_reference_does_not_run_away_from_a_blocked_platform():
    demand = Demand(np.array([1.0, 0.0, 0.0]), np.zeros(3), held=True)
    hand, rows = flown(at_rest(), demand, 3.0, follows=False)
    assert np.linalg.norm(hand.row[REF_P] - [1.0, 2.0, 3.0]) == pytest.approx(LIMITS.leash)
    assert rows[-1, REF_V] == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_single_aircraft_has_one_heading():
    hand = StickReference.at(at_rest().row[None, :13] * 1.0)
    assert len(hand.row) == REF_FIXED + 1


def test_full_sticks_ask_for_what_the_mapping_says():
    axes = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    demand = joystick_demand(axes, DEAD_MAN, GAMEPAD)
    assert demand.held
    assert demand.velocity_P == pytest.approx([1.0, 1.0, 0.6])
    assert np.rad2deg(demand.rate_P) == pytest.approx([-15.0, 15.0, 45.0])


def test_the_dead_zone_counts_as_nothing():
    demand = joystick_demand([0.08, -0.05, 0, 0.01, 0.07, 0, 0, 0], DEAD_MAN, GAMEPAD)
    assert not demand.velocity_P.any()
    assert not demand.rate_P.any()


def test_without_the_dead_man_button_nothing_is_asked_for():
    assert joystick_demand([1.0] * 8, [1, 1, 1, 1, 0, 1], GAMEPAD) is RELEASED


@pytest.mark.parametrize(
    ("axes", "buttons", "named"),
    [
        ([0.0] * 6, DEAD_MAN, "'rate_deg.roll': axis 6 of only 6"),
        ([0.0] * 8, [1, 1], "'dead_man': button 4 of only 2"),
        ([np.nan] * 8, DEAD_MAN, "'velocity.x': axis 1 is nan"),
    ],
)
def test_a_joystick_that_does_not_fit_is_named(axes, buttons, named):
    with pytest.raises(BadInput, match=named):
        joystick_demand(axes, buttons, GAMEPAD)


def test_a_key_counts_until_its_repeats_cease():
    keyboard = Keyboard(KEYBOARD)
    assert not keyboard.demand(0.0).held
    assert keyboard.press("w", 0.0)
    assert keyboard.demand(0.5).velocity_P == pytest.approx([0.6, 0.0, 0.0])
    assert not keyboard.demand(KEYBOARD.release + 0.01).held


def test_keys_held_together_add_up_and_stop_ends_them():
    keyboard = Keyboard(KEYBOARD)
    keyboard.press("w", 0.0)
    keyboard.press("q", 0.1)
    demand = keyboard.demand(0.2)
    assert demand.velocity_P == pytest.approx([0.6, 0.0, 0.0])
    assert np.rad2deg(demand.rate_P) == pytest.approx([0.0, 0.0, 30.0])
    keyboard.press(" ", 0.2)
    assert not keyboard.demand(0.2).held


def test_speed_keys_scale_within_bounds():
    keyboard = Keyboard(KEYBOARD)
    for _ in range(20):
        keyboard.press("+", 0.0)
    keyboard.press("w", 0.0)
    assert keyboard.demand(0.0).velocity_P[0] == pytest.approx(0.6 * Keyboard.FASTEST)
    for _ in range(40):
        keyboard.press("-", 0.0)
    assert keyboard.speed == pytest.approx(Keyboard.SLOWEST)


def test_only_the_quit_key_quits_and_every_key_is_explained():
    keyboard = Keyboard(KEYBOARD)
    assert all(keyboard.press(key, 0.0) for key in "wasdx+- \n")
    assert not keyboard.press("\x1b", 0.0)
    lines = keyboard.help().splitlines()
    assert len(lines) == len(KEYBOARD.keys) + 4
    assert any("esc" in line and "quit" in line for line in lines)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("dead_man: 4", "missing key 'dead_man'"),
        ("x: {axis: 1, full: 1.0}", "missing key 'velocity.x'"),
        ("tilt_deg: 25.0", "missing key 'limits.tilt_deg'"),
    ],
)
def test_a_mapping_with_a_missing_key_is_refused(tmp_path, change, named):
    text = (MAPPINGS.folder / "gamepad.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(change, ""))
    with pytest.raises(BadInput, match=named):
        load_mapping(JoystickMapping, str(path))


def test_a_key_with_two_meanings_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        (MAPPINGS.folder / "keyboard.yaml").read_text().replace('stop: " "', "stop: w")
    )
    with pytest.raises(BadInput, match="'w' stands for more than one thing"):
        load_mapping(KeyboardMapping, str(path))


@pytest.mark.slow
def test_a_structure_follows_the_stick_of_its_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = load_mapping(JoystickMapping, "gamepad").limits
    with Simulation.of("module_hover", settings=SETTINGS) as simulation:
        leader = simulation.loop.vehicles[1]
        stick = StickReference.at(simulation.state_of("m2"))
        monkeypatch.setattr(leader, "reference", lambda _: Reference(stick.row, Level.POSE))
        off = []
        while simulation.t < 8.0:
            demand = FORWARD if simulation.t < 5.0 else Demand()
            at = simulation.state_of("m2")[0, P]
            stick = stick.moved(demand, simulation.scenario.dt, limits=limits, p_WP_W=at)
            simulation.step()
            x = [simulation.state_of(name)[0] for name in ("m1", "m2", "m3")]
            off.append(x[1][P] - stick.row[REF_P])
        modules = simulation.modules
        assert isinstance(modules, ModulesInFlight)
        wrench = modules.joints.wrenches_S()["j1"]
    assert np.linalg.norm(stick.row[REF_P] - [0.0, 0.0, 1.0]) > 0.8
    assert 2.0 * np.arcsin(stick.row[REF_Q][2]) == pytest.approx(1.4, abs=0.15)  # yaw
    assert np.abs(off).max() < 0.06
    assert np.linalg.norm(off[-1]) < 0.02
    for a, b in ((0, 1), (1, 2)):
        assert np.linalg.norm(x[b][P] - x[a][P]) == pytest.approx(SIZE, abs=1e-3)
        assert abs(x[a][Q] @ x[b][Q]) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(wrench[:3]) < 0.5
