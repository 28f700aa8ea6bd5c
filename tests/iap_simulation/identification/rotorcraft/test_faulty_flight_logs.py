# SPDX-License-Identifier: BSD-3-Clause
"""Signals of a flight log that contradict each other are refused or noted before a rotorcraft comes of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iap_bringup.cli import identify_rotorcraft, main
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_simulation.identification.rotorcraft.flight_table import flight_table
from iap_simulation.identification.rotorcraft.input_lags import check_input_times
from iap_simulation.identification.rotorcraft.log_checks import checked_log

DT, SECONDS = 0.01, 40.0
MIXER = np.array([[-1.0, 1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0], [-1.0, -1.0, 1.0, 1.0]])
Change = Callable[[np.ndarray, np.ndarray], None]  # of values at times, in place


def made_log() -> FlightLog:
    """A quadrotor that sways about all axes, whose motors make its angular accelerations."""
    rng, t = np.random.default_rng(1), DT * np.arange(round(SECONDS / DT))
    rates = np.array([7.0, 9.0, 5.0])
    angles = 0.1 * np.sin(t[:, None] * rates) + 0.05 * np.sin(2.3 * t[:, None] * rates[::-1])
    R = so3.exp(angles)
    q = so3.quaternion_from_matrix(R)
    w = so3.log(np.swapaxes(R[:-2], 1, 2) @ R[2:]) / (2.0 * DT)
    w = np.concatenate([w[:1], w, w[-1:]])
    p = np.column_stack([np.sin(1.1 * t), np.cos(0.9 * t), 1.5 + 0.3 * np.sin(1.3 * t)])
    v = np.gradient(p, t, axis=0)
    f = so3.rotate(so3.conjugate(q), np.gradient(v, t, axis=0) + [0.0, 0.0, GRAVITY])
    motors = 0.6 + 0.002 * np.gradient(w, t, axis=0) @ MIXER
    noisy = {
        names.RATES: w + rng.normal(0.0, 0.01, w.shape),
        names.SPECIFIC_FORCE: f + rng.normal(0.0, 0.1, f.shape),
    }
    signals = {
        names.ATTITUDE: q, names.POSITION: p, names.VELOCITY: v, names.MOTORS: motors,
        names.LANDED: np.zeros((len(t), 1)), **noisy,
    }  # fmt: skip
    made = {name: Signal(t, x, "made", UNITS[name]) for name, x in signals.items()}
    return FlightLog(Path("made.ulg"), "made", "four rotors", made, rotors=4, axes="enu")


def changed(name: str, change: Change) -> FlightLog:
    log = made_log()
    signal = log.signals[name]
    values = signal.values.copy()
    change(signal.t, values)
    return log.with_signal(name, replace(signal, values=values))


def scaled(factor: float, column: int | slice = slice(None)) -> Change:
    def change(_t: np.ndarray, x: np.ndarray) -> None:
        x[:, column] *= factor

    return change


def shifted(offset: float, column: int, begin: float = 0.0) -> Change:
    def change(t: np.ndarray, x: np.ndarray) -> None:
        x[t >= begin, column] += offset

    return change


def still(begin: float, end: float, column: int | slice = slice(None)) -> Change:
    def change(t: np.ndarray, x: np.ndarray) -> None:
        inside = (t >= begin) & (t < end)
        x[inside, column] = x[np.flatnonzero(inside)[0], column]

    return change


def pulses(_t: np.ndarray, x: np.ndarray) -> None:
    x[[500, 1500, 2500], 2] += 100.0


def late(name: str, seconds: float) -> FlightLog:
    log = made_log()
    return log.with_signal(name, replace(log.signals[name], t=log.signals[name].t + seconds))


def test_signals_of_one_motion_are_left_as_they_are() -> None:
    log = made_log()
    assert checked_log(log) is log
    check_input_times(flight_table(log))


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        (
            names.RATES,
            scaled(np.degrees(1.0)),
            "57.3 times the derivative of attitude: is it in deg/s",
        ),
        (names.RATES, scaled(-1.0, 1), "rates y .* is that axis turned round"),
        (
            names.RATES,
            scaled(0.0, 1),
            "rates y .* stands still, and the derivative of attitude moves",
        ),
        (names.VELOCITY, scaled(3.6), "3.6 times the derivative of position: is it in km/h"),
        (names.POSITION, scaled(1e3), "0.001 times the derivative of position"),
        (names.SPECIFIC_FORCE, scaled(1.0 / GRAVITY), "upwards in the air, .* is it in g"),
        (names.SPECIFIC_FORCE, scaled(-1.0, 2), "is its z axis turned round"),
        (names.SPECIFIC_FORCE, shifted(-GRAVITY, 2), "is gravity taken out of it"),
        (names.MOTORS, scaled(100.0), "are they in percent"),
        (names.MOTORS, scaled(3000.0), "are they in PWM us"),
        (names.MOTORS, scaled(9000.0), "are they in rpm"),
        (names.MOTORS, still(0.0, SECONDS, 1), "motors .* number 2 of 4, is .* all the time"),
        (names.RATES, still(0.0, SECONDS, 0), "rates .* number 1 of 3, is .* all the time"),
    ],
)
def test_a_signal_in_another_unit_or_sense_or_a_dead_one_is_refused(
    name: str, change: Change, text: str
) -> None:
    with pytest.raises(BadInput, match=text):
        checked_log(changed(name, change))


def test_commands_that_never_change_fly_no_vehicle() -> None:
    log = made_log()
    commands = {names.MOTORS: 4, names.TORQUE: 3, names.THRUST: 1}
    for name, width in commands.items():
        t = log.signals[names.RATES].t
        still_signal = Signal(t, np.full((len(t), width), 0.5), "made", UNITS[name])
        log = log.with_signal(name, still_signal)
    with pytest.raises(BadInput) as error:
        flight_table(checked_log(log))
    reason = "0.5 all the time in the air: was it not recorded?"
    assert str(error.value) == f"made.ulg: no torque set-point and no motors ({reason})"
    turned = log.with_signal(names.MOTORS, made_log().signals[names.MOTORS])
    assert flight_table(checked_log(turned)).torque is None  # motors that change count alone


def test_a_sensor_none_of_whose_numbers_changes_is_refused() -> None:
    with pytest.raises(BadInput, match="is 0.1 all the time in the air: was it not recorded"):
        checked_log(changed(names.RATES, lambda _t, x: x.fill(0.1)))


@pytest.mark.parametrize(
    ("name", "seconds", "text"),
    [
        (names.RATES, 0.2, r"comes 0\.20 s after the derivative of attitude"),
        (names.ATTITUDE, 0.2, r"comes 0\.20 s before the derivative of attitude"),
        (names.VELOCITY, 0.2, r"comes 0\.20 s after the derivative of position"),
    ],
)
def test_a_signal_whose_clock_is_apart_is_refused(name: str, seconds: float, text: str) -> None:
    with pytest.raises(BadInput, match=text):
        checked_log(late(name, seconds))


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "0.20 s before"), (-0.3, "0.30 s after")])
def test_effects_before_their_inputs_or_long_behind_them_are_refused(
    seconds: float, text: str
) -> None:
    with pytest.raises(BadInput, match=text):
        check_input_times(flight_table(late(names.MOTORS, seconds)))


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        (names.RATES, shifted(0.1, 0), "rates x (made) lies 0."),
        (names.RATES, shifted(0.1, 1, 22.0), "rates y (made) steps by 0."),
        (names.VELOCITY, shifted(0.5, 0), "velocity x (made) lies 0."),
        (names.SPECIFIC_FORCE, shifted(1.0, 2, 22.0), "specific force z (made) steps by"),
        (names.SPECIFIC_FORCE, pulses, "specific force: 3 samples off the others by up to"),
    ],
)
def test_a_bias_a_step_and_spikes_have_a_note(name: str, change: Change, text: str) -> None:
    (note,) = checked_log(changed(name, change)).notes
    assert note.startswith(text)


@pytest.mark.parametrize("name", [names.RATES, names.MOTORS, names.VELOCITY, names.ATTITUDE])
def test_the_part_without_a_signal_that_stands_still_is_taken(name: str) -> None:
    log = checked_log(changed(name, still(10.0, 13.0)))
    assert (
        log.notes[-1]
        == f"{name} stands still from 10.0 to 13.0 s: the part from 13.0 to 40.0 s is taken"
    )
    assert flight_table(log).t[0] > 13.0


def test_the_part_without_lost_samples_is_taken() -> None:
    log, signal = made_log(), made_log().signals[names.MOTORS]
    keep = (signal.t < 28.0) | (signal.t > 31.0)
    lost = log.with_signal(
        names.MOTORS, replace(signal, t=signal.t[keep], values=signal.values[keep])
    )
    (note,) = checked_log(lost).notes
    assert (
        note == "motors has no samples from 28.0 to 31.0 s: the part from 0.0 to 28.0 s is taken"
    )


def test_a_vehicle_at_rest_repeats_its_numbers_without_a_note() -> None:
    log = made_log()
    for name, each in log.signals.items():
        values = each.values.copy()
        values[each.t < 5.0] = values[0]
        log = log.with_signal(name, replace(each, values=values))
    assert not any("stands still" in note for note in checked_log(log).notes)


def test_the_command_refuses_a_log_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = changed(names.RATES, scaled(np.degrees(1.0)))
    monkeypatch.setattr(identify_rotorcraft, "_split", lambda options: ([log], []))
    out = tmp_path / "out"
    assert main.main(["identify", "made.ulg", "--model", "rotorcraft", "--out", str(out)]) == 2
    assert "is it in deg/s?" in capsys.readouterr().err
    assert not out.exists()
