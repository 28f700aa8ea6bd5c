# SPDX-License-Identifier: BSD-3-Clause
"""What an inspection says of every signal in the air, and what a log is good for at the edge of each rule."""

from pathlib import Path

import numpy as np
import pytest

from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import UNITS, FlightLog, Signal
from iap_io.flight_logs.frame_checks import FrameCheck
from iap_io.flight_logs.inspection import WORDS, Inspection, _consistency, vibration

T = np.arange(0.0, 6.0, 0.005)
MEASURED = {
    names.ATTITUDE: (0.0, 0.0, 0.0, 1.0),
    names.POSITION: (1.0, 2.0, 3.0),
    names.VELOCITY: (0.0, 0.0, 0.0),
    names.MOTORS: (0.5, 0.5, 0.5, 0.5),
    names.VOLTAGE: (12.0,),
    names.POSITION_SETPOINT: (0.0, 0.0, 1.0),
}


def signal(name: str, values: np.ndarray, t: np.ndarray = T) -> Signal:
    rows = np.array(np.broadcast_to(values, (len(t), np.shape(values)[-1])), float)
    return Signal(t, rows, name, UNITS[name])


def flown(begin: float = 1.0, end: float = 5.0, **changed: Signal) -> FlightLog:
    """A log with every signal that a use needs, in the air from one time to another."""
    signals = {name: signal(name, np.array(row)) for name, row in MEASURED.items()}
    landed = Signal(
        np.array([0.0, begin, end, 6.0]), np.array([[1.0], [0.0], [1.0], [1.0]]), "", ""
    )
    return FlightLog(
        Path("log.ulg"),
        "ULog",
        "PX4",
        signals | {names.LANDED: landed} | changed,
        missing={"rates": "not logged"},
    )


def reasons(log: FlightLog) -> dict[str, str]:
    return {use.name: use.reason for use in Inspection.of(log).uses}


@pytest.mark.parametrize(
    ("name", "first", "second", "words"),
    [
        (names.ATTITUDE, [np.sin(0.35), 0, 0, np.cos(0.35)], [0, 0, 0, 2], "tilt to 40 deg"),
        (names.ATTITUDE, [0, 0, 1, 0], [0, np.sin(0.1), 0, np.cos(0.1)], "tilt to 11 deg"),
        (names.POSITION, [1, -2, 3], [2.5, 2, 3.3], "1.5 x 4.0 x 0.3 m"),
        (names.VELOCITY, [3, 0, 4], [0, 0, 1], "to 5.0 m/s"),
        (names.RATES, [0, 1, 0], [0.6, 0, 0.8], "to 1.0 rad/s"),
        (names.GYROSCOPE, [0, 0, -3], [0, 0, 2], "to 3.0 rad/s"),
        (names.MOTORS, [0.25, 0.5], [0.75, 0.5], "0.25 to 0.75, usually 0.50"),
        (names.ROTOR_SPEEDS, [900], [1100], "900 to 1100, usually 1000"),
        (names.THRUST, [0.125], [0.125], "0.12 to 0.12, usually 0.12"),
        (names.VOLTAGE, [12], [11], "11.00 to 12.00, usually 11.50"),
        (names.CURRENT, [-1], [4], "-1.00 to 4.00, usually 1.50"),
        (names.POSITION_SETPOINT, [0, 0, np.nan], [0, 0, 1], "50 % not controlled"),
        (names.VELOCITY_SETPOINT, [0, 0, 1], [0, 0, 1], ""),
    ],
)  # fmt: skip
def test_a_signal_in_words(name: str, first: list[float], second: list[float], words: str) -> None:
    """Half of the samples are the first row, half the second."""
    rows = np.array([first, second] * (len(T) // 2), float)
    assert WORDS[name](Signal(T, rows, "", UNITS[name])) == words


@pytest.mark.parametrize(
    ("half", "words"), [(5.3, "vibration 5.3 m/s^2 (strong)"), (4.7, "vibration 4.7 m/s^2")]
)
def test_vibration_is_what_changes_within_a_twentieth_of_a_second(half: float, words: str) -> None:
    """An acceleration of that size that changes its sign with every sample of 200 Hz, beside a steady one."""
    rows = np.full((len(T), 3), 9.81)
    rows[:, 1] += half * (-1.0) ** np.arange(len(T))
    shaken = signal(names.SPECIFIC_FORCE, rows)
    assert WORDS[names.SPECIFIC_FORCE](shaken) == words
    assert vibration(shaken) == pytest.approx(half, rel=1e-3)
    assert (
        vibration(shaken.between(0.0, 0.15)) > 0.9 * half
    )  # 31 samples: more than three times ten
    assert vibration(shaken.between(0.0, 0.145)) == 0.0  # 30: less the edges, too few


@pytest.mark.parametrize(("rate", "is_slow"), [(39.9, True), (40.1, False)])
def test_vibration_needs_forty_samples_a_second(rate: float, is_slow: bool) -> None:
    t = np.arange(100) / rate
    words = WORDS[names.SPECIFIC_FORCE](Signal(t, np.zeros((100, 3)), "", ""))
    assert words == ("too slow to show vibration" if is_slow else "vibration 0.0 m/s^2")


def test_two_samples_in_the_air_are_reported() -> None:
    for last, words in ((1.001, "no samples"), (1.006, "12.00 to 12.00, usually 12.00")):
        log = flown(**{names.VOLTAGE: flown().signals[names.VOLTAGE].between(0.0, last)})
        told = Inspection.of(log).metrics["signals"][names.VOLTAGE]["in_the_air"]
        assert told == words


def test_the_longest_flight_is_inspected() -> None:
    """What lies outside of it does not count, as a low voltage before it."""
    volts = np.full((len(T), 1), 12.0)
    volts[T < 0.9] = 5.0
    log = flown(**{names.VOLTAGE: signal(names.VOLTAGE, volts)})
    inspection = Inspection.of(log)
    assert (
        inspection.metrics["signals"][names.VOLTAGE]["in_the_air"]
        == "12.00 to 12.00, usually 12.00"
    )
    assert inspection.metrics["flights_s"] == [[1.0, 5.0]]
    assert reasons(log)["battery sag"] == "voltage changes by 0 % alone"


def test_a_log_of_the_ground_is_good_for_nothing() -> None:
    log = flown(begin=1.0, end=2.5)
    inspection = Inspection.of(log)
    assert inspection.flights == [] and inspection.metrics["can"] == []
    assert {*reasons(log).values()} == {"never in the air", "no log has them"}
    assert {each["in_the_air"] for each in inspection.metrics["signals"].values()} == {""}


@pytest.mark.parametrize(
    ("use", "needed"),
    [
        ("replay of the flown motion", {names.POSITION, names.ATTITUDE}),
        ("replay of position set-points", {names.POSITION_SETPOINT}),
        ("hover command", {names.MOTORS}), ("rotor lag", {names.MOTORS}),
        ("drag", {names.VELOCITY, names.ATTITUDE}), ("battery sag", {names.VOLTAGE, names.MOTORS}),
    ],
)  # fmt: skip
def test_every_use_names_the_signal_that_it_lacks(use: str, needed: set[str]) -> None:
    for name in MEASURED:
        lacking = flown().without("it was off", name)
        assert (reasons(lacking)[use] == f"no {name} (it was off)") == (name in needed), name
        few = flown(**{name: flown().signals[name].between(0.0, 1.001)})  # one sample in the air
        assert (reasons(few)[use] == f"no {name}") == (name in needed), name
        two = flown(**{name: flown().signals[name].between(0.0, 1.006)})
        assert not reasons(two)[use].startswith("no "), name


@pytest.mark.parametrize(
    ("use", "name", "rows", "t", "reason"),
    [
        ("drag", names.VELOCITY, [[1.19, 0, 1.6]], T, "at most 2.0 m/s"),
        ("drag", names.VELOCITY, [[1.21, 0, 1.6]], T, ""),
        ("battery sag", names.VOLTAGE, [[10.0], [9.01]], T, "voltage changes by 10 % alone"),
        ("battery sag", names.VOLTAGE, [[10.0], [8.99]], T, ""),
        ("rotor lag", names.MOTORS, [[0.5, 0.5]], np.arange(0.0, 6.0, 1.0 / 99.0), "motors at 99 Hz"),
        ("rotor lag", names.MOTORS, [[0.5, 0.5]], np.arange(0.0, 6.0, 1.0 / 101.0), ""),
        ("hover command", names.MOTORS, [[0.5, 0.6]], T, "motors do not change"),
        ("hover command", names.MOTORS, [[0.5, 0.6], [0.5, 0.61]], T, ""),
    ],
)  # fmt: skip
def test_every_use_at_its_edge(
    use: str, name: str, rows: list[list[float]], t: np.ndarray, reason: str
) -> None:
    values = np.resize(np.array(rows), (len(t), len(rows[0])))
    assert reasons(flown(**{name: signal(name, values, t)}))[use] == reason


def test_consistency_names_what_was_compared() -> None:
    said = [*_consistency(FrameCheck(0.0123, 0.00456, 0.789, "frames fit"))]
    assert said == [
        "position and velocity 0.012 m/s",
        "attitude and rates 0.0046 rad/s",
        "velocity and accelerometer 0.789 m/s in 0.5 s",
        "frames fit",
    ]
    for i, text in enumerate(said[:3]):
        numbers = [None, None, None]
        numbers[i] = (0.0123, 0.00456, 0.789)[i]
        assert [*_consistency(FrameCheck(*numbers, "unknown"))] == [text, "unknown"]


def test_lines_tell_the_log_its_signals_and_its_uses(tmp_path: Path) -> None:
    path = tmp_path / "log.ulg"
    path.write_bytes(b"0" * 260_000)
    made = flown()
    log = FlightLog(
        path, "ULog", "PX4 on a quadrotor", made.signals, rows=77, missing=made.missing,
        notes=("clock mended",), advice="log faster",
    )  # fmt: skip
    inspection = Inspection.of(log)
    heading, conclusions = [*inspection.heading()], [*inspection.conclusions()]
    assert heading[0] == "log.ulg: ULog, PX4 on a quadrotor"
    assert heading[1] == "  0.3 MB, 77 rows, 6.0 s from 0.0 s after boot"
    assert heading[2] == "  in the air: 1.0 to 5.0 s"
    table = {name: cells for name, *cells in inspection.rows()}
    assert table["position"] == ["position", "200", "5", "0.0 x 0.0 x 0.0 m"]
    assert table["rates"] == ["none", "", "", "not logged"]
    assert names.LANDED not in table  # states are no signals of the table
    assert conclusions[-2:] == ["  note: clock mended", "  next time: log faster"]
    can = "replay of the flown motion, replay of position set-points, rotor lag"
    assert f"  can: {can}" in conclusions
    assert "  cannot: drag: at most 0.0 m/s" in conclusions
