# SPDX-License-Identifier: BSD-3-Clause
"""Signals of a flight that are dead, lost, spiky or in another unit, and what a table takes of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.crashes import before_crash
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.flight_times import InTheAir
from iap_simulation.identification.rotorcraft import (
    flight_table,
    log_checks,
)
from iap_simulation.identification.rotorcraft.prediction import TRIM, windows

T = 0.02 * np.arange(1500)  # 30 s
NOISE = np.random.default_rng(4).normal(size=(1500, 3))


def log_of(**signals: np.ndarray) -> FlightLog:
    made = {key.replace("_", " "): value for key, value in signals.items()}
    return FlightLog(
        Path("a.ulg"), "ULog", "PX4",
        {name: Signal(T, values, f"topic of {name}", names.UNITS[name]) for name, values in made.items()},
    )  # fmt: skip


def force_of(up: float) -> FlightLog:
    return log_of(specific_force=np.tile([0.0, 0.0, up], (1500, 1)))


@pytest.mark.parametrize(
    ("up", "why"),
    [
        (5.8, "in which unit is it?"),
        (14.8, "in which unit is it?"),
        (-9.8, "is its z axis turned round?"),
        (-5.8, "in which unit is it?"),
        (0.29, "is gravity taken out of it? The accelerometer's own reading is expected"),
        (-0.31, "is it in g?"),
        (1.99, "is it in g?"),
        (2.01, "in which unit is it?"),
        (499.0, "in which unit is it?"),
        (-501.0, "is it in mg?"),
    ],
)
def test_a_force_that_does_not_carry_the_vehicle_is_refused(up: float, why: str) -> None:
    with pytest.raises(BadInput) as error:
        log_checks._check_weight(force_of(up), (0.0, 30.0))
    said = (
        f"{names.SPECIFIC_FORCE} (topic of {names.SPECIFIC_FORCE}) is {up:.3g} upwards in the air,"
    )
    assert str(error.value) == f"a.ulg: {said} 9.81 m/s^2 is expected: {why}"


def test_a_force_that_carries_it_or_is_not_there_is_no_fault() -> None:
    for up in (0.61 * GRAVITY, 1.49 * GRAVITY):
        log_checks._check_weight(force_of(up), (0.0, 30.0))
    log_checks._check_weight(log_of(), (0.0, 30.0))
    log_checks._check_weight(force_of(0.0), (29.97, 40.0))  # of one sample in the air
    with pytest.raises(BadInput):
        log_checks._check_weight(force_of(0.0), (29.95, 40.0))


def test_a_number_that_never_changes_while_others_do_is_dead() -> None:
    values = NOISE.copy()
    values[:, 1] = 0.25
    signal = Signal(T, values, "gyro", "rad/s")
    with pytest.raises(
        BadInput, match=r"^a\.ulg: rates \(gyro\), number 2 of 3, is 0\.25 all the"
    ):
        log_checks._check_alive(log_of(), "rates", signal)
    values[:, 1] = 0.0  # what is zero may rest
    log_checks._check_alive(log_of(), "rates", signal)
    values[0, 1] = 0.25  # the first one alone is no news
    log_checks._check_alive(log_of(), "rates", signal)
    values[:] = 0.0  # all are zero, as those of a vehicle at rest without noise
    log_checks._check_alive(log_of(), "rates", signal)


def test_spikes_are_replaced_and_noted_unless_they_are_many_or_small() -> None:
    rates = 0.01 * NOISE
    rates[[100, 700], [0, 2]] += [3.0, -2.0]
    mended = log_checks._without_spikes(log_of(rates=rates), names.RATES)
    np.testing.assert_allclose(mended.signals[names.RATES].values, 0.0, atol=0.05)
    (note,) = mended.notes
    assert note.startswith(f"{names.RATES}: 2 samples off the others by up to 2.99")
    assert note.endswith(" rad/s (spikes, the first at 2.0 s), left out")
    small = 0.01 * NOISE
    small[100, 0] += 0.45
    many = 0.01 * NOISE
    many[::49, 0] += 3.0  # more than one of fifty
    for values in (small, many):
        log = log_of(rates=values)
        assert log_checks._without_spikes(log, names.RATES) is log
    short = Signal(T[:7], rates[97:104], "gyro", "rad/s")
    log = log_of().with_signal(names.RATES, short)
    assert log_checks._without_spikes(log, names.RATES) is log


def lost(name: str, t: np.ndarray, values: np.ndarray) -> list[tuple[float, float, str]]:
    return list(log_checks._lost(name, Signal(t, values, "topic", "unit")))


def test_a_signal_is_lost_where_samples_are_missing_or_repeat_one_number() -> None:
    kept = np.ones(1500, bool)
    kept[500:520] = False  # 0.42 s from one to the next
    assert lost(names.RATES, T[kept], NOISE[kept]) == [
        (9.98, pytest.approx(10.4), "has no samples")
    ]
    kept[518:] = True  # 0.38 s
    assert lost(names.RATES, T[kept], NOISE[kept]) == []
    slow = np.arange(60) * 0.5  # eight periods are four seconds
    assert lost(names.RATES, np.delete(slow, range(20, 26)), NOISE[:54]) == []
    assert len(lost(names.RATES, np.delete(slow, range(20, 28)), NOISE[:52])) == 1
    still = NOISE.copy()
    still[300:322, 1] = still[300, 1]  # 0.42 s
    assert lost(names.RATES, T, still) == [(6.0, pytest.approx(6.42), "stands still")]
    still[300:322, 1] = 0.0
    assert lost(names.RATES, T, still) == lost(names.RATES, T[:7], 0.0 * NOISE[:7] + 1.0) == []


def test_inputs_may_rest_at_their_ends_and_an_attitude_rests_in_all_numbers() -> None:
    motors = 0.5 + 0.01 * NOISE
    for end, is_lost in ((1.0, False), (0.9995, False), (-0.2, False), (0.99, True), (0.01, True)):
        motors[300:330, 0] = end
        assert bool(lost(names.MOTORS, T, motors)) == is_lost
        assert lost(names.RATES, T, motors)
    q = np.column_stack([0.01 * NOISE, np.ones(1500)])
    q[:, 0] = 0.1
    assert lost(names.ATTITUDE, T, q) == []
    q[300:330] = q[300]
    assert lost(names.ATTITUDE, T, q) == [(6.0, pytest.approx(6.58), "stands still")]


def test_another_signal_says_whether_the_vehicle_moves() -> None:
    def moving(name: str, **sizes: float) -> bool:
        log = log_of(**{key: size * NOISE for key, size in sizes.items()})
        return log_checks._is_moving(log, name, 5.0, 20.0)

    assert moving(names.VELOCITY, rates=0.022) and not moving(names.VELOCITY, rates=0.018)
    assert moving(names.RATES, rates=0.01, motors=0.03)  # none is its own witness
    assert not moving(names.GYROSCOPE, rates=1.0) and not moving(names.RATES, rates=1.0)
    assert not moving(names.VELOCITY, rates=0.01, motors=1.0)  # the first one says it


def test_the_longest_part_in_which_nothing_is_lost_is_taken() -> None:
    kept = np.ones(1500, bool)
    kept[300:400] = False  # from 5.98 to 8.00 s
    log = log_of(motors=NOISE).with_signal(
        names.RATES, Signal(T[kept], NOISE[kept], "topic", "rad/s")
    )
    part = log_checks._longest_sound(log, (0.0, 29.98))
    assert part.notes == (
        f"{names.RATES} has no samples from 6.0 to 8.0 s: the part from 8.0 to 30.0 s is taken",
    )
    assert part.signals[names.MOTORS].t[[0, -1]].tolist() == pytest.approx([8.0, 29.98])
    early = log_checks._longest_sound(log, (0.0, 15.0))
    assert early.signals is log.signals and early.notes[0].endswith(
        "from 6.0 to 8.0 s: kept, no part of the flight without is long enough; fits suffer"
    )
    assert log_checks._longest_sound(log_of(motors=NOISE), (0.0, 29.98)).notes == ()


def test_of_two_losses_the_longer_is_named_and_the_longest_part_between_them_is_taken() -> None:
    """A signal that stands still is lost only while another one says that the vehicle moves."""
    kept = np.ones(1500, bool)
    kept[200:300] = False  # from 3.98 to 6.00 s
    motors = 0.5 + 0.1 * NOISE
    motors[1150:1200] = 0.5
    rates = Signal(T[kept], NOISE[kept], "topic", "rad/s")
    log = log_of(motors=motors).with_signal(names.RATES, rates)
    part = log_checks._longest_sound(log, (0.0, 29.98))
    assert part.notes[0].startswith(
        "rates has no samples from 4.0 to 6.0 s: the part from 6.0 to 23.0"
    )
    still = log.with_signal(names.RATES, Signal(T[kept], 1e-3 * NOISE[kept], "topic", "rad/s"))
    assert (
        log_checks._longest_sound(still, (0.0, 29.98))
        .notes[0]
        .endswith("from 6.0 to 30.0 s is taken")
    )


def test_set_points_count_that_are_there_for_half_of_the_flight() -> None:
    q = np.tile([0.0, 0.0, 0.0, 1.0], (1500, 1))
    t = T[500:1000]

    def asked(share: float) -> Any:
        values = q.copy()
        values[500 + round(share * 500) :] = np.nan
        log = log_of().with_signal(names.ATTITUDE_SETPOINT, Signal(T, values, "topic", "xyzw"))
        return flight_table._setpoints(log, t)

    np.testing.assert_allclose(asked(0.52), q[:500])
    assert asked(0.48) is None and flight_table._setpoints(log_of(), t) is None


def test_attitudes_of_a_log_without_any_are_integrals_of_its_rates_in_the_body() -> None:
    t = np.array([0.0, 0.5, 1.0, 1.25, 1.75])
    w = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [4, 0, -2], [0, 0, 2]], float)  # linear between
    q = flight_table._attitudes(log_of(), t, w)
    yaw = 0.5 * 0.5 + 0.5 * 1.5  # mean rates of 0.5 s each
    np.testing.assert_allclose(q[0], [0, 0, 0, 1])
    np.testing.assert_allclose(q[1], [0, 0, np.sin(0.125), np.cos(0.125)])
    np.testing.assert_allclose(q[2], [0, 0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    roll = so3.multiply(q[2], np.array([np.sin(0.25), 0.0, 0.0, np.cos(0.25)]))
    np.testing.assert_allclose(q[3], roll)
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0)


def test_a_blow_across_the_rotors_axes_ends_a_flight() -> None:
    force = np.tile([0.0, 0.0, GRAVITY], (1500, 1))
    force[:, 2] += np.where(T > 3.0, 40.0, 0.0)  # along them none counts
    log = log_of(specific_force=force)
    assert before_crash(log, InTheAir(0.0, 25.0)) == 25.0
    force[T > 20.0, 1] = -45.0
    end = before_crash(log, InTheAir(0.0, 25.0))
    assert 19.85 < end < 20.0
    assert before_crash(log_of(), InTheAir(0.0, 25.0)) == 25.0
    assert before_crash(log, InTheAir(0.0, 15.0)) == 15.0
    assert before_crash(log, InTheAir(0.0, 0.6)) == 0.6  # of 30 samples


def test_instruments_are_heights_that_were_asked_for_with_their_pasts() -> None:
    z = np.sin(T)
    signal = Signal(T, np.column_stack([0 * z, 0 * z, z]), "topic", "m")
    t = T[100:1400]
    made = flight_table._instruments(log_of().with_signal(names.POSITION_SETPOINT, signal), t)
    assert made is not None and made.shape == (1300, 7)
    np.testing.assert_allclose(made[:, -1], 1.0)
    past = np.sin(t - 0.4)
    np.testing.assert_allclose(made[:, 4], past - past.mean(), atol=1e-4)
    values = np.ones((1500, 3))
    values[(T < t[0] - 1.02) | (T > t[-1] + 0.01), 2] = 2.0  # of other flights
    still = Signal(T, values, "topic", "m/s")
    assert (
        flight_table._instruments(log_of().with_signal(names.VELOCITY_SETPOINT, still), t) is None
    )
    assert flight_table._instruments(log_of(), t) is None


def test_level_instruments_are_velocities_along_the_heading_and_to_its_left() -> None:
    z = np.sin(T)
    place = Signal(T, np.column_stack([-np.cos(T), 0 * z, z]), "topic", "m")
    speed = Signal(T, np.column_stack([z, 0 * z, z]), "topic", "m/s")
    t = T[100:1400]
    north = np.tile(so3.quaternion_exp(np.array([0.0, 0.0, 0.5 * np.pi])), (len(t), 1))
    by_speed = flight_table._level_instruments(
        log_of().with_signal(names.VELOCITY_SETPOINT, speed), t, north
    )
    assert by_speed is not None and by_speed.shape == (1300, 2, 7)
    np.testing.assert_allclose(
        by_speed[:, 0, :6], 0.0, atol=1e-9
    )  # a body that looks north flies east: to its right
    past = -np.sin(t - 0.2)
    np.testing.assert_allclose(by_speed[:, 1, 2], past - past.mean(), atol=1e-4)
    by_place = flight_table._level_instruments(
        log_of().with_signal(names.POSITION_SETPOINT, place), t, north
    )
    assert by_place is not None and by_place.shape == (1300, 2, 6)
    middle = -np.sin(t - 0.15)  # of the difference between 0.1 and 0.2 s before
    np.testing.assert_allclose(by_place[:, 1, 1], middle - middle.mean(), atol=2e-3)
    assert flight_table._level_instruments(log_of(), t, north) is None


def test_no_window_goes_across_a_reset_of_the_estimator() -> None:
    t = 0.01 * np.arange(2000)
    rows = dict.fromkeys(("q", "w", "f", "v", "p", "motors", "torque", "thrust", "instruments"))
    table = flight_table.FlightTable("a", t, **rows, input_rate=1.0, rate=1.0, exponent=None,
                                     q_setpoint=None, resets=(10.0,))  # fmt: skip
    starts, steps = windows(table, 1.0)
    whole, _ = windows(replace(table, resets=()), 1.0)
    begins = t[whole]
    kept = (begins + 1.0 <= 10.0) | (begins - TRIM >= 10.0)
    np.testing.assert_array_equal(starts, whole[kept])
    assert steps == 100 and not kept.all()
