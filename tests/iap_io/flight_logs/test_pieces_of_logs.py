# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of the reading of logs by hand: layouts of dataflash, outputs of ArduPilot, signals."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_io.flight_logs import ardupilot, crazyflie
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.angle_units import UNITS
from iap_io.flight_logs.dataflash import RowFormat, _add_layout, _add_times, _tables, _times
from iap_io.flight_logs.flight_log import FlightLog, Signal, numbered
from iap_io.flight_logs.frame_checks import means
from iap_io.flight_logs.log_tables import FORMS, LogField, LogTable, signals_of
from iap_io.flight_logs.px4_ulog import _is_whole, _LogBytes, _places

T = np.arange(4.0)


def outputs(parameters, **columns):
    table = LogTable("RCOU", T[:2], {key: np.array(each) for key, each in columns.items()})
    found = ardupilot._with_motors(
        SimpleNamespace(tables={"RCOU": [table], "ATT": []}), parameters
    )
    assert list(found) == ["RCOU", "ATT"]
    kept = found["RCOU"][0].columns
    return {key: kept[key].tolist() for key in kept if key.startswith("motor")}


def test_outputs_drive_the_motors_that_parameters_name():
    wide = {"C1": [1000.0, 1250.0], "Ch2": [1500.0, 2000.0], "C9": [1100.0, 1900.0]}
    assert outputs({}, **wide) == {"motor[0]": [0.0, 0.25], "motor[1]": [0.5, 1.0]}
    named = {"SERVO9_FUNCTION": 33.0, "SERVO2_FUNCTION": 82.0, "SERVO1_FUNCTION": 1.0}
    limits = {"MOT_PWM_MIN": 1100.0, "MOT_PWM_MAX": 1900.0}
    assert outputs(named | limits, **wide) == {"motor[0]": [0.0, 1.0], "motor[8]": [0.5, 1.125]}
    zero = {"MOT_PWM_MIN": 0.0, "MOT_PWM_MAX": 0.0}
    assert outputs({"SERVO1_FUNCTION": 40.0} | zero, **wide) == {"motor[7]": [0.0, 0.25]}


@pytest.mark.parametrize(
    ("kind", "count"), [(1, 4), (2, 6), (3, 8), (4, 8), (5, 6), (7, 3), (0, 4), (99, 4)]
)
def test_a_class_of_frames_has_so_many_motors(kind, count):
    many = {f"C{k}": [1000.0, 1500.0] for k in range(1, 13)}
    assert len(outputs({"FRAME_CLASS": float(kind)}, **many)) == count


@pytest.mark.parametrize(
    ("parameters", "is_x"),
    [
        ({}, True),
        ({"FRAME_TYPE": 0.0, "FRAME": 1.0}, False),
        ({"FRAME": 0.0}, False),
        ({"FRAME_TYPE": 1.0}, True),
    ],
)
def test_a_frame_is_an_x_by_either_of_its_names(parameters, is_x):
    assert ardupilot._is_x(parameters) == is_x


def test_set_points_of_three_axes_are_as_many_as_the_fewest():
    tables = {
        name: [
            LogTable(
                name, T[:count] + k, {f"TP{axis}": 10.0 * k + T[:count], f"TV{axis}": -T[:count]}
            )
        ]
        for k, (name, axis, count) in enumerate(
            (("PSCN", "N", 4), ("PSCE", "E", 3), ("PSCD", "D", 4))
        )
    }
    (table,) = ardupilot._targets(SimpleNamespace(tables=tables))["PSC"]
    assert table.t.tolist() == [0.0, 1.0, 2.0] and list(table.columns) == [
        "TPN",
        "TVN",
        "TPE",
        "TVE",
        "TPD",
        "TVD",
    ]
    assert table.columns["TPE"].tolist() == [10.0, 11.0, 12.0]
    assert ardupilot._targets(SimpleNamespace(tables={"PSCN": tables["PSCN"]})) == {}


def test_events_are_steps_of_states_from_the_first_to_the_last_attitude():
    events = LogTable("EV", np.array([3.0, 4.0, 5.0, 9.0]), {"Id": np.array([10, 28, 10, 11])})
    tables = {"EV": [events], "ATT": [LogTable("ATT", np.array([1.0, np.nan, 8.0]), {})]}
    armed, landed = ardupilot._events(SimpleNamespace(tables=tables))["EV"]
    np.testing.assert_allclose(armed.t, [1.0, 3.0 - 1e-4, 3.0, 9.0 - 1e-4, 9.0, 9.001])
    assert armed.columns["armed"].tolist() == [0, 0, 1, 1, 0, 0]
    np.testing.assert_allclose(landed.t, [1.0, 4.0 - 1e-4, 4.0, 8.0])
    assert landed.columns["landed"].tolist() == [1, 1, 0, 0]
    assert ardupilot._events(SimpleNamespace(tables={"EV": [events]})) == {}


def layout_row(kind, size, name, letters, columns):
    return (
        bytes([kind, size])
        + name.ljust(4, b"\0")
        + letters.ljust(16, b"\0")
        + columns.ljust(64, b"\0")
    )


def test_a_layout_is_added_whose_size_and_names_fit_its_letters():
    sound = layout_row(7, 3 + 8 + 4 + 2, b"ABCD", b"Qfc", b"TimeUS,X,Y")
    for row, is_added in (
        (sound, True),
        (layout_row(7, 16, b"ABCD", b"Qfc", b"TimeUS,X,Y"), False),
        (layout_row(7, 17, b"ABCD", b"Qfc", b"TimeUS,X,X"), False),
        (layout_row(7, 17, b"ABCD", b"Qfc", b"TimeUS,X"), False),
        (layout_row(7, 17, b"ABCD", b"Qfx", b"TimeUS,X,Y"), False),
        (layout_row(128, 17, b"ABCD", b"Qfc", b"TimeUS,X,Y"), False),
    ):
        layouts, sizes = {}, [0] * 256
        _add_layout(row, layouts, sizes)
        assert bool(layouts) == is_added and sum(sizes) == 17 * is_added
    assert RowFormat("A", "ab", ["X"]).dtype == np.dtype([])
    assert RowFormat("A", "bf", ["X", "Y"]).dtype == np.dtype([("X", "i1"), ("Y", "<f4")])


@pytest.mark.parametrize(
    ("name", "columns", "t"),
    [
        ("IMU", {"TimeUS": np.array([2_500_000])}, [2.5]),
        ("GPS", {"TimeMS": np.array([7]), "T": np.array([1500])}, [1.5]),
        ("IMU", {"TimeMS": np.array([1500]), "T": np.array([7])}, [1.5]),
        ("EV", {"Id": np.array([1, 2])}, [np.nan] * 2),
        ("EV", {}, []),
    ],
)
def test_times_of_messages_count_from_boot(name, columns, t):
    np.testing.assert_allclose(_times(name, columns), t)


def test_rows_of_each_instance_are_a_table_in_its_unit():
    layout = RowFormat("BAT", "QBcL", ["TimeUS", "I", "Volt", "Lat"])
    rows = np.array([(1_000_000, 0, 1250, 10_000_000), (2_000_000, 2, -5, 5)], layout.dtype)
    first, second = _tables(layout, rows)
    assert (first.name, second.name) == ("BAT", "BAT[2]")
    assert (first.t.tolist(), second.t.tolist()) == ([1.0], [2.0])
    assert (first.columns["Volt"].tolist(), second.columns["Volt"].tolist()) == ([12.5], [-0.05])
    assert first.columns["Lat"] == pytest.approx(1.0)
    (whole,) = _tables(layout._replace(name="PARM"), rows)
    assert whole.t.tolist() == [1.0, 2.0]


def test_messages_without_times_have_those_around_them():
    tables = {
        "ATT": [LogTable("ATT", np.array([1.0, 3.0, 2.0]), {})], "EV": [LogTable("EV", np.full(2, np.nan), {})],
        "A": [LogTable("A", np.array([50.0]), {})],
    }  # fmt: skip
    offsets = {
        "ATT": np.array([0.0, 100.0, 200.0]),
        "EV": np.array([50.0, 150.0]),
        "A": np.array([0.0]),
    }
    _add_times(tables, offsets)
    assert tables["EV"][0].t.tolist() == [2.0, 3.0] and tables["A"][0].t.tolist() == [50.0]


def test_a_path_may_name_a_log_by_its_number(tmp_path):
    assert numbered(Path("a/flight.bbl:2")) == (Path("a/flight.bbl"), 2)
    assert numbered(Path("a/flight.bbl")) == (Path("a/flight.bbl"), None)
    assert numbered(Path("a:b")) == (Path("a:b"), None)
    odd = tmp_path / "a:2"
    odd.write_text("")
    assert numbered(odd) == (odd, None)


def test_signals_are_cut_and_interpolated_and_a_log_lasts_from_the_first_to_the_last():
    signal = Signal(
        np.array([1.0, 2.0, 4.0]), np.array([[0.0, 8.0], [2.0, 6.0], [6.0, 2.0]]), "a", "m"
    )
    assert (signal.rate, signal.largest_gap, signal.gaps) == (pytest.approx(2.0 / 3.0), 2.0, 0)
    assert signal.between(2.0, 4.0).t.tolist() == [2.0, 4.0]
    assert signal.between(1.0, 3.9).values.tolist() == [[0.0, 8.0], [2.0, 6.0]]
    np.testing.assert_allclose(
        signal.at(np.array([0.0, 1.5, 3.0, 9.0])), [[0, 8], [1, 7], [4, 4], [6, 2]]
    )
    np.testing.assert_allclose(means(signal, np.array([1.0, 2.0, 4.0])), [[1.0, 7.0], [4.0, 4.0]])
    np.testing.assert_allclose(
        means(signal, np.array([0.0, 1.0, 3.0, 5.0])), [[0, 8], [2.5, 5.5], [6, 2]]
    )
    log = FlightLog(
        Path("a"),
        "",
        "",
        {"x": signal, "y": signal.between(2.0, 4.0)},
        notes=("one",),
        missing={"z": "why"},
    )
    assert (log.begin, log.end) == (1.0, 4.0) and log.noted("two", "three").notes == (
        "one",
        "two",
        "three",
    )
    less = log.without("lost", "x", "w")
    assert (list(less.signals), less.missing) == (["y"], {"z": "why", "x": "lost"})
    assert log.with_signal("x", less.signals["y"]).signals["x"].t.tolist() == [2.0, 4.0]


def test_units_of_angles_are_in_radians():
    half = np.pi / 2.0
    assert {key: half / unit for key, unit in UNITS.items()} == pytest.approx(
        {"deg": 90.0, "rad": half, "hundredths of a degree": 9000.0, "tenths of a degree": 900.0}
    )
    np.testing.assert_allclose(FORMS["pulse"](np.array([1000.0, 1500.0, 2000.0])), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(FORMS["up"](np.array([1.0])), [-1.0])


def test_the_source_of_a_field_is_its_table_and_what_its_columns_share():
    assert LogField("rates", "IMU", ("gyr[0]", "gyr[1]")).source == "IMU.gyr"
    assert LogField("rates", "IMU", ("GyrX", "GyrY")).source == "IMU.GyrX,GyrY"


def test_the_first_field_that_changes_counts_or_else_the_first_that_is_there():
    fields = [LogField(names.VOLTAGE, table, ("v",), scale=0.5) for table in ("A", "B", "C")]
    tables = {name: [LogTable(name, T, {"v": np.array(v)})] for name, v in (
        ("A", [2.0] * 4), ("B", [2.0, np.nan, 4.0, 6.0]), ("C", [7.0, 8.0, 9.0, 9.0]))}  # fmt: skip
    signals, notes = signals_of(tables, fields)
    assert signals[names.VOLTAGE].values.tolist() == [[1.0], [2.0], [3.0]]
    assert (signals[names.VOLTAGE].source, signals[names.VOLTAGE].unit) == ("B.v", "V")
    assert notes == ["B: 1 rows without voltage left out"]
    assert signals_of({"A": tables["A"]}, fields)[0][names.VOLTAGE].values.tolist() == [[1.0]] * 4


@pytest.mark.parametrize(
    ("parameters", "rotors", "places"),
    [
        ({}, 4, names.QUAD_X), ({}, 6, None),
        ({"CA_ROTOR0_PX": 0.2, "CA_ROTOR0_PY": 0.3, "CA_ROTOR1_PX": -0.1, "CA_ROTOR1_PY": -2.0}, 2, ((1, -1), (-1, 1))),
        ({"CA_ROTOR0_PX": 0.2}, 1, None),
    ],
)  # fmt: skip
def test_places_of_motors_are_in_flu(parameters, rotors, places):
    assert _places(parameters, rotors) == places


def test_a_ulog_is_whole_that_ends_with_a_message():
    message = (5).to_bytes(2, "little") + b"D12345"
    assert [_is_whole(bytes(16) + each) for each in (b"", message, message * 2, message[:-1], message + b"\1")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert _is_whole(bytes(16) + message + b"\1\0?more")  # data may be appended


def test_nobody_steps_back_beyond_the_last_two_reads():
    data = _LogBytes(b"0123456789")
    assert (data.read(3), data.read(2)) == (b"012", b"34")
    assert data.seek(-5, 1) == 0
    assert (data.read(1), data.read(3), data.read(2)) == (b"0", b"123", b"45")
    with pytest.raises(ValueError, match="^the size of a message is beyond the end of the file$"):
        data.seek(-6, 1)
    assert data.seek(0) == 0


def usd(records, tail=b"\0\0\0\0"):
    one = np.dtype([("event", "<u2"), ("t", "<u4"), ("a", "<f4")])
    two = np.dtype([("event", "<u2"), ("t", "<u4"), ("b", "<u1")])
    events = {3: crazyflie.EventType("one", one), 5: crazyflie.EventType("two", two)}
    rows = [np.array([each], one if each[0] == 3 else two).tobytes() for each in records]
    return events, b"HEAD" + b"".join(rows) + tail


def test_records_of_a_card_are_told_apart_by_their_event():
    events, data = usd([(3, 10, 1.5), (5, 11, 7), (3, 12, 2.5)])
    (one, two), is_sound = crazyflie._records(data, events, 4)
    assert (
        is_sound
        and one["a"].tolist() == [1.5, 2.5]
        and two["b"].tolist() == [7]
        and two["t"].tolist() == [11]
    )
    (one, two), is_sound = crazyflie._records(data[:-5] + bytes(4), events, 4)  # cut
    assert (is_sound, len(one), len(two)) == (True, 1, 1)
    (one, two), is_sound = crazyflie._records(
        usd([(3, 10, 1.5), (4, 11, 7), (3, 12, 2.5)])[1], events, 4
    )
    assert (is_sound, len(one), len(two)) == (False, 1, 0)
    alone = {3: events[3]}
    (rows,), is_sound = crazyflie._records(usd([(3, 10, 1.5), (3, 12, 2.5)])[1], alone, 4)
    assert is_sound and rows["t"].tolist() == [10, 12]
    (rows,), is_sound = crazyflie._records(
        usd([(3, 10, 1.5), (3, 12, 2.5)])[1].replace(b"\3\0\x0c", b"\4\0\x0c"), alone, 4
    )
    assert not is_sound and rows["t"].tolist() == [10]
    assert crazyflie._known(events) == "a, b" and crazyflie._known({}) == "none"


def test_rows_with_numbers_beyond_any_are_left_out_and_counted():
    table = LogTable("B", T, {"v": np.array([2.0, 1e308, -1e16, 6.0])})
    signals, notes = signals_of({"B": [table]}, [LogField(names.VOLTAGE, "B", ("v",))])
    assert signals[names.VOLTAGE].values.tolist() == [[2.0], [6.0]]
    assert notes == ["B: 2 rows without voltage left out"]
