# SPDX-License-Identifier: BSD-3-Clause
"""Betaflight's blackbox as it was recorded: encodings by hand, rows that were written, and damage that is counted."""

import numpy as np
import pytest

from iap_bringup.cli.main import main
from iap_bringup.fuzz.made_blackbox import END, KEYS, blackbox, frame, header, signed, unsigned
from iap_description.errors import BadInput
from iap_io.flight_logs import blackbox_codes as codes
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.flight_log import FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT
from iap_io.flight_logs.readers import open_log

EVERY = 32  # rows from one frame I to the next


def rows(count=400, begin=0):
    """A vehicle that shakes: gyroscope and motors change in every row."""
    rng = np.random.default_rng(3)
    gyro = rng.integers(-300, 300, (count, 3))
    motors = rng.integers(200, 1900, (count, 4))
    return [
        (begin + k, 5000 + 1000 * k + k % 3, *gyro[k].tolist(), 4, -5, 2048, 320, 1580 - k // 9, *motors[k].tolist())
        for k in range(count)
    ]  # fmt: skip


def read_numbers(data, kinds, version=2):
    out = np.zeros(len(kinds), np.int64)
    end = codes.fields(np.frombuffer(data, np.uint8), 0, np.array(kinds), version, out)
    return out.tolist(), end


@pytest.mark.parametrize(
    ("data", "kinds", "numbers"),
    [
        (b"\x05", [codes.SIGNED], [-3]),
        (b"\xac\x02", [codes.UNSIGNED], [300]),
        (b"\x05", [codes.NEGATIVE_14], [-5]),
        (b"\x0a\x0a\x05", [codes.GROUP_OF_8] * 4, [0, 5, 0, -3]),
        (b"\x05", [codes.GROUP_OF_8], [-3]),  # alone it has no leading byte
        (b"\x1c", [codes.GROUP_OF_3] * 3, [1, -1, 0]),
        (b"\x43\xe5", [codes.GROUP_OF_3] * 3, [3, -2, 5]),
        (b"\x94\x2c\x1f", [codes.GROUP_OF_3] * 3, [20, -20, 31]),
        (b"\xe4\x64\x18\xfc\xa0\x86\x01", [codes.GROUP_OF_3] * 3, [100, -1000, 100000]),
        (b"\x1c", [codes.GROUP_OF_3_VARIED] * 3, [1, -1, 0]),
        (b"\x60\xf8", [codes.GROUP_OF_3_VARIED] * 3, [-16, 15, -8]),
        (b"\xa0\x1f\xc0", [codes.GROUP_OF_3_VARIED] * 3, [-128, 63, -64]),
        (b"\xe4\x39\xc0\x3e\x80", [codes.GROUP_OF_4] * 4, [0, 3, -100, 1000]),
        (b"", [codes.NO_BYTES], [0]),
    ],
)
def test_encodings_are_read_as_they_were_written_by_hand(data, kinds, numbers):
    assert read_numbers(data + b"\xff", kinds) == (numbers, len(data))


def test_the_first_version_of_a_group_of_four_has_whole_bytes():
    assert read_numbers(b"\xe5\xd3\x9c\xe8\x03", [codes.GROUP_OF_4] * 4, version=1) == (
        [3, -3, -100, 1000],
        5,
    )


def test_bytes_beyond_the_end_are_no_numbers():
    _, end = read_numbers(b"\x80", [codes.UNSIGNED, codes.SIGNED])
    assert end > 1


def test_rows_come_back_as_they_were_written(tmp_path):
    path, wrote = tmp_path / "flight.bbl", np.array(rows())
    path.write_bytes(blackbox(wrote.tolist()))
    log = open_log(path)
    signals = log.signals
    np.testing.assert_allclose(signals[names.RATES].t, 1e-6 * wrote[:, 1])
    np.testing.assert_allclose(signals[names.RATES].values, np.radians(wrote[:, 2:5]))
    np.testing.assert_allclose(signals[names.MOTORS].values, (wrote[:, 10:] - 158) / 1889)
    np.testing.assert_allclose(signals[names.VOLTAGE].values[:, 0], 0.01 * wrote[:, 9])
    np.testing.assert_allclose(signals[names.SPECIFIC_FORCE].values[:, 2], 9.80665)
    assert log.vehicle == "Betaflight 4.4.0 (made up), 4 rotors"
    assert log.motor_places == (REAR_RIGHT, FRONT_RIGHT, REAR_LEFT, FRONT_LEFT)
    assert not any("damaged" in note for note in log.notes)


@pytest.mark.parametrize("kind", ["lost", "zeros", "noise"])
def test_frames_behind_damage_wait_for_a_whole_one_and_are_counted(kind, tmp_path):
    path, wrote = tmp_path / "flight.bbl", np.array(rows())
    data = bytearray(blackbox(wrote.tolist()))
    at = len(data) // 2
    noise = np.random.default_rng(5).integers(0, 256, 300, dtype=np.uint8).tobytes()
    data[at : at + 300] = {"lost": b"", "zeros": bytes(300), "noise": noise}[kind]
    path.write_bytes(bytes(data))
    log = open_log(path)
    t = np.round(1e6 * log.signals[names.RATES].t).astype(int)
    known = {row[1]: row for row in wrote.tolist()}
    assert all(time in known for time in t.tolist())
    gyro = np.radians([known[time][2:5] for time in t.tolist()])
    np.testing.assert_allclose(log.signals[names.RATES].values, gyro)
    assert len(wrote) - EVERY - 300 // 20 <= len(t) < len(wrote)
    (note,) = [each for each in log.notes if "damaged frames" in each]
    assert note.endswith("left out")


def test_a_time_that_leaps_within_a_frame_is_damage(tmp_path):
    path, wrote = tmp_path / "flight.bbl", rows(64)
    wrote[10] = (10, wrote[9][1] + 30_000_000, *wrote[10][2:])
    path.write_bytes(blackbox(wrote))
    log = open_log(path)
    assert len(log.signals[names.RATES].t) == 10 + 32
    assert "1 damaged frames, and 21 that are changes of them left out" in log.notes


def test_a_pause_of_the_logger_is_no_damage(tmp_path):
    path, wrote = tmp_path / "flight.bbl", rows(64)
    paused = [(row[0] + 96_000, row[1] + 96_000_000, *row[2:]) for row in wrote]
    resume = b"E\x0e" + unsigned(paused[0][0]) + unsigned(paused[0][1])
    first = blackbox(wrote)[: -len(END)]
    second = blackbox(paused)[len(header()) :]
    path.write_bytes(first + resume + second)
    log = open_log(path)
    assert len(log.signals[names.RATES].t) == 128
    assert not any("damaged" in note for note in log.notes)


def test_events_of_other_kinds_stand_between_frames(tmp_path):
    wrote = rows(3)
    beep, mode, disarm = b"E\x00" + unsigned(7000), b"E\x1e\x01\x00", b"E\x0f\x04"
    adjusted = b"E\x0d\x05" + signed(-9) + b"E\x0d\x85" + bytes(4)
    tuned = (
        b"E\x0a" + bytes(5) + b"E\x0b" + bytes(4) + b"E\x0c" + bytes(8) + b"E\x14\x01\x04\x00\x00"
    )
    data = header() + frame("I", wrote[0], (), ()) + beep + mode + adjusted + tuned
    data += frame("P", wrote[1], wrote[0], wrote[0]) + frame("P", wrote[2], wrote[1], wrote[0])
    path = tmp_path / "flight.bbl"
    path.write_bytes(data + disarm + END)
    log = open_log(path)
    assert len(log.signals[names.RATES].t) == 3
    assert not any("damaged" in note for note in log.notes)


def test_the_longest_of_several_logs_is_read_and_others_by_their_number(tmp_path, capsys):
    path = tmp_path / "flight.bbl"
    path.write_bytes(blackbox(rows(40)) + blackbox(rows(90)) + blackbox(rows(60)))
    longest = open_log(path)
    assert len(longest.signals[names.RATES].t) == 90
    assert "log 2 of the 3 in the file, of 0.1 s: FILE:NUMBER is another" in longest.notes
    assert main(["inspect", f"{path}:3"]) == 0
    assert "flight.bbl:3: blackbox" in capsys.readouterr().out
    with pytest.raises(BadInput, match="log 4: the file has 3"):
        open_log(f"{path}:4")


def test_frames_of_a_part_of_the_loops_count_all_of_them(tmp_path):
    """Of P interval 4, iterations 0, 4, 8, ... are logged, and the number of a row goes up by 4."""
    few = [(4 * k, *row[1:]) for k, row in enumerate(rows(40))]
    path = tmp_path / "flight.bbl"
    path.write_bytes(blackbox(few, {**KEYS, "P interval": "4", "I interval": "32"}))
    assert len(open_log(path).signals[names.RATES].t) == 40


def test_releases_before_four_have_other_units(tmp_path):
    path = tmp_path / "flight.bbl"
    old = {**KEYS, "Firmware revision": "Betaflight 3.4.0", "gyro_scale": "0x40000000"}
    path.write_bytes(blackbox(rows(40), old))
    log = open_log(path)
    assert log.signals[names.VOLTAGE].values[0, 0] == pytest.approx(158.0)  # tenths
    assert log.signals[names.RATES].values[5] == pytest.approx(2 * np.radians(rows(40)[5][2:5]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"Field I name": "time,gyroADC[0]"}, "no fields loopIteration and time"),
        ({"Field P encoding": "9,0,0"}, "'Field P encoding' has 3 numbers in place of 14"),
        ({"Field P encoding": ",".join(["9", *["4"] * 13])}, "encoding 4 of its fields"),
        ({"Field I predictor": ",".join(["7"] * 14)}, "predictor 7 of its fields"),
        ({"Field I signed": ",".join(["x"] * 14)}, "'x' in its header is no number"),
    ],
)
def test_headers_that_are_damaged_are_refused_with_the_key(change, reason, tmp_path):
    path = tmp_path / "flight.bbl"
    path.write_bytes(header({**KEYS, **change}) + blackbox(rows(9))[len(header()) :])
    with pytest.raises(BadInput, match=f"flight.bbl: .*{reason}"):
        open_log(path)


def test_a_log_that_ends_with_its_header_has_no_sound_frames(tmp_path):
    path = tmp_path / "flight.bbl"
    path.write_bytes(header())
    with pytest.raises(BadInput, match="no sound frames"):
        open_log(path)


def test_other_logs_have_no_numbers(tmp_path):
    (tmp_path / "flight.csv").write_text("loopIteration,time\n", encoding="utf-8")
    with pytest.raises(BadInput, match="one log: leave out :2"):
        open_log(tmp_path / "flight.csv:2")


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("Field P encoding", lambda old: old.rsplit(",", 2)[0] + ",1,8", "end within a group"),
        ("Field I encoding", lambda old: old.rsplit(",", 1)[0] + ",10", "end within a group"),
        ("Field G encoding", lambda _: ",".join(["1"] * 200), "frames of 200 fields, 128 at most"),
        ("P interval", lambda _: "1/2147483647", "2147483647 iterations between its frames"),
        ("minthrottle", lambda _: str(10**30), "no number of 32 bits"),
        ("gyro_scale", lambda _: "0x123456789", "no number of 32 bits"),
    ],
)
def test_sizes_of_a_damaged_header_are_refused_in_one_line(key, value, reason, tmp_path):
    lines = header().decode("latin-1").splitlines(keepends=True)
    old = dict(line[2:].rstrip().partition(":")[::2] for line in lines).get(key, "")
    kept = [line for line in lines if not line.startswith(f"H {key}:")]
    data = "".join([*kept, f"H {key}:{value(old)}\n"]).encode("latin-1")
    path = tmp_path / "flight.bbl"
    path.write_bytes(data + blackbox(rows(64))[len(header()) :])
    with pytest.raises(BadInput, match=reason):
        open_log(path)


def test_a_log_of_a_file_that_cannot_be_read_is_noted(tmp_path):
    path = tmp_path / "flight.bbl"
    damaged = header().replace(b"Field I name", b"Field I nome")
    path.write_bytes(blackbox(rows(64)) + damaged)
    assert any(
        "1 of the 2 logs cannot be read: no fields" in each for each in open_log(path).notes
    )


def test_a_scale_that_the_header_does_not_have_is_noted(tmp_path):
    path = tmp_path / "flight.bbl"
    path.write_bytes(blackbox(rows(64), {k: v for k, v in KEYS.items() if k != "acc_1G"}))
    assert "acc_1G: 2048 assumed, the header has none" in open_log(path).notes
