# SPDX-License-Identifier: BSD-3-Clause
"""Signals of a log beside what they are derivatives of: units, senses, clocks, and what of a log is flown again."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.platform import load_platform
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_simulation.identification.rotorcraft.same_motions import (
    SameMotion,
    _check_clock,
    _check_slope,
    _unit_of,
    compared,
    same_motions,
)
from iap_simulation.open_loop.command_source import ReplayAircraft, _matched

DT = 0.01
T = DT * np.arange(3000)


def log_of(**changed):
    """A flight that turns and moves, whose signals are each other's derivatives."""
    phase = np.outer(T, [1.0, 1.3, 0.7])
    phi, dphi = 0.3 * np.sin(phase), 0.3 * np.cos(phase) * [1.0, 1.3, 0.7]
    q = so3.quaternion_exp(phi)
    w = np.einsum("kij,kj->ki", so3.right_jacobian(phi), dphi)
    p = 5.0 * np.sin(0.8 * phase)
    v = 4.0 * np.cos(0.8 * phase) * [1.0, 1.3, 0.7]
    a = -3.2 * np.sin(0.8 * phase) * np.array([1.0, 1.3, 0.7]) ** 2
    f = so3.rotate(so3.conjugate(q), a + [0.0, 0.0, GRAVITY])
    values = {
        names.ATTITUDE: q, names.RATES: w, names.POSITION: p, names.VELOCITY: v, names.SPECIFIC_FORCE: f,
        names.LANDED: np.zeros((len(T), 1)), **changed,
    }  # fmt: skip
    return FlightLog(
        Path("log.ulg"),
        "ULog",
        "PX4",
        {k: Signal(T, x, k, UNITS[k]) for k, x in values.items() if x is not None},
    )


def test_rates_velocities_and_forces_are_the_derivatives_of_attitude_place_and_speed():
    found = {each.name: each for each in same_motions(log_of())}
    assert list(found) == [names.RATES, names.VELOCITY, names.SPECIFIC_FORCE]
    for each, off in zip(found.values(), (2e-3, 0.02, 0.05), strict=True):
        assert len(each.t) == len(each.measured) == len(each.derived) > 500
        np.testing.assert_allclose(each.measured, each.derived, atol=off)
        assert np.diff(each.t) == pytest.approx(0.05)
    assert [each.of.rpartition(" ")[2] for each in found.values()] == [
        "attitude",
        "position",
        "velocity",
    ]


def test_what_is_not_logged_is_not_compared():
    left = [
        each.name for each in same_motions(log_of(**{names.POSITION: None, names.RATES: None}))
    ]
    assert left == [names.SPECIFIC_FORCE]


def motion(x, name=names.RATES):
    return SameMotion(
        name, "the derivative of attitude", 0.05 * np.arange(len(x)), x[:, None], x[:, None]
    )


WAVE = np.sin(0.05 * np.arange(600) * 1.7) + 0.5 * np.sin(0.05 * np.arange(600) * 0.61)


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (1.0, None), (0.76, None), (1.32, None),
        (0.74, "is 0.74 times the derivative of attitude: in which units are they"),
        (1.35, "is 1.35 times"), (-1.0, "is -1 times the derivative of attitude: is that axis turned round"),
        (57.3, "is 57.3 times the derivative of attitude: is it in deg/s"),
        (9.5, "is it in rpm"),
    ],
)  # fmt: skip
def test_a_multiple_of_a_motion_is_refused_with_its_unit(factor, said):
    log, each = SimpleNamespace(path="log"), motion(WAVE)
    if said is None:
        _check_slope(log, each, "gyro x", factor * WAVE, WAVE)
    else:
        with pytest.raises(BadInput, match=f"log: gyro x .*{said.split('is ', 1)[1]}"):
            _check_slope(log, each, "gyro x", factor * WAVE, WAVE)
    noise = np.random.default_rng(1).normal(size=600)
    _check_slope(log, each, "gyro x", 9.0 * noise, WAVE)  # that is no multiple


@pytest.mark.parametrize(
    ("name", "slope", "unit"),
    [(names.VELOCITY, 3.6, "km/h"), (names.VELOCITY, 100.0, "cm/s"), (names.VELOCITY, 1000.0, "mm/s"),
     (names.VELOCITY, 3.28, "ft/s"), (names.VELOCITY, 1.94, "kn"), (names.RATES, 60.0, "deg/s")],
)  # fmt: skip
def test_units_are_known_by_their_ratio_within_a_tenth(name, slope, unit):
    assert _unit_of(name, slope) == f": is it in {unit}?"
    assert _unit_of(name, 10.0 * slope) != f": is it in {unit}?"


@pytest.mark.parametrize(
    ("steps", "said"), [(0, None), (1, None), (2, "0.10 s after"), (-3, "0.15 s before")]
)
def test_a_signal_that_comes_late_or_early_is_refused_with_its_lag(steps, said):
    log, each = SimpleNamespace(path="log"), motion(WAVE)
    measured = np.roll(WAVE, steps)
    if said is None:
        _check_clock(log, each, "gyro x", measured, WAVE)
    else:
        with pytest.raises(
            BadInput, match=f"gyro x comes {said} the derivative of attitude: one of their clocks"
        ):
            _check_clock(log, each, "gyro x", measured, WAVE)


def test_a_signal_that_stands_still_beside_one_that_moves_is_refused():
    still = log_of(**{names.RATES: np.zeros((len(T), 3))})
    (rates, *_) = same_motions(still)
    with pytest.raises(
        BadInput, match=r"log.ulg: .* x \(.*\) stands still, and the derivative of attitude moves"
    ):
        compared(still, rates)
    sound = log_of()
    for each in same_motions(sound):
        assert compared(sound, each).notes == ()


PLACES = [(1, 1), (-1, -1), (1, -1), (-1, 1)]


def test_motors_are_matched_with_rotors_by_the_signs_of_their_places():
    assert _matched(PLACES, [(-1, 1), (1, 1), (-1, -1), (1, -1)]) == [1, 2, 3, 0]
    with pytest.raises(BadInput, match="X frames alone match"):
        _matched(PLACES, [(0, 1), (1, 0), (0, -1), (-1, 0)])


def test_a_log_s_motors_are_as_many_as_rotors_and_at_known_places():
    aircraft = load_platform("f450").aircraft
    flown = ReplayAircraft(None, aircraft, 1.0)
    places = [tuple(np.sign(each.position[:2]).astype(int)) for each in aircraft.rotors]

    def log(rotors, motor_places):
        return SimpleNamespace(path="log", rotors=rotors, motor_places=motor_places)

    assert flown.rotors_of(log(4, places[::-1])) == [3, 2, 1, 0]
    assert flown.rotors_of(log(None, ())) == [0, 1, 2, 3]
    with pytest.raises(BadInput, match="log: 6 rotors; 4 are flown"):
        flown.rotors_of(log(6, places))
    with pytest.raises(BadInput, match="log: where its motors are is not known for this frame"):
        flown.rotors_of(log(4, None))
    rpm = flown.speeds(np.array([[2.0, 0.5, 0.0, -1.0]]))
    np.testing.assert_allclose(aircraft.rotor.c_f * rpm**2, [[2.0, 0.5, 0.0, 0.0]])
