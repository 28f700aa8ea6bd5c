# SPDX-License-Identifier: BSD-3-Clause
"""Fixes of a GPS in a blackbox come back as the places and velocities that were written."""

import numpy as np
import pytest

from iap_bringup.fuzz.made_blackbox import END, KEYS, blackbox, frame, header, signed, unsigned
from iap_description.math.geodesy import Geodetic, geodetic
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.readers import open_log

HOME = (473_977_420, 85_455_940, 4_880)  # latitude and longitude [1e-7 deg], altitude [0.1 m]
DATUM = Geodetic(47.397742, 8.545594, 488.0)
FIELDS = (
    "GPS_numSat", "GPS_coord[0]", "GPS_coord[1]", "GPS_altitude", "GPS_speed", "GPS_ground_course",
    "GPS_velned[0]", "GPS_velned[1]", "GPS_velned[2]",
)  # fmt: skip
PREDICTORS, CODES = (0, 7, 7, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 1, 1, 0, 0, 0)
EVERY, COUNT = 10, 200  # rows from one fix to the next, rows
ROWS = [(k, 5000 + 1000 * k, 9, -9, 5, 0, 0, 2048, 300, 1580, *[400 + k % 9] * 4) for k in range(COUNT)]  # fmt: skip


def keys(fields=FIELDS, predictors=PREDICTORS, encodings=CODES, release="2025.12.5"):
    """The header's lines of the GPS."""
    homes = "GPS_home[0],GPS_home[1],GPS_home[2]"
    more = {"Field H name": homes, "Field H encoding": "0,0,0", "Field H predictor": "0,0,0"}
    lists = {"name": fields, "predictor": predictors, "encoding": encodings}
    more |= {f"Field G {key}": ",".join(map(str, values)) for key, values in lists.items()}
    return KEYS | more | {"Firmware revision": f"Betaflight {release} (made up)"}


def path_of(k):
    """East, north and up of the home [m], and the velocity there [m/s], at the row k."""
    s = 0.001 * k
    return np.array([30.0 * s, -20.0 * s, 4.0 + 5.0 * s]), np.array([30.0, -20.0, 5.0])


def fix(k, satellites=12, home=HOME, late=None):
    """A frame G at the row k; `late` is written in front, where the log has a time of its own [us]."""
    p, v = path_of(k)
    place = geodetic(p, DATUM)
    coordinates = (round(1e7 * place.latitude) - home[0], round(1e7 * place.longitude) - home[1])
    speed, course = (
        round(100.0 * np.hypot(*v[:2])),
        round(10.0 * np.degrees(np.arctan2(v[0], v[1])) % 3600),
    )
    own = b"" if late is None else unsigned(late)
    ned = round(100 * v[1]), round(100 * v[0]), round(-100 * v[2])
    return (
        b"G" + own + unsigned(satellites) + b"".join(map(signed, coordinates))
        + signed(round(10.0 * place.altitude)) + unsigned(speed) + unsigned(course)
        + b"".join(map(signed, ned))
    )  # fmt: skip


def home_frame(home=HOME):
    return b"H" + b"".join(map(signed, home))


def log_with(tmp_path, others, keys):
    """A log of `ROWS` with other frames behind some rows."""
    out, every = header(keys), int(keys["I interval"])
    last = before = ()
    for row in ROWS:
        kind = "P" if row[0] % every else "I"
        out += frame(kind, row, last, before) + others.get(row[0], b"")
        before, last = (last if kind == "P" else row), row
    path = tmp_path / "flight.bbl"
    path.write_bytes(out + END)
    return open_log(path)


def fixes(**options):
    return {k: fix(k, **options) for k in range(0, COUNT, EVERY)}


def expected():
    return np.array([path_of(k)[0] for k in range(0, COUNT, EVERY)])


def test_places_and_velocities_are_those_that_were_written(tmp_path):
    others = fixes()
    others[0] = home_frame() + others[0]
    log = log_with(tmp_path, others, keys())
    position, velocity = log.signals[names.POSITION], log.signals[names.VELOCITY]
    t = np.array([ROWS[k][1] for k in range(0, COUNT, EVERY)]) * 1e-6
    np.testing.assert_allclose(position.t, t)
    # A coordinate's step is 11 mm, one of the altitude 0.1 m.
    assert np.abs(position.values - expected())[:, :2].max() < 0.012
    assert np.abs(position.values - expected())[:, 2].max() < 0.06
    np.testing.assert_allclose(velocity.values, np.tile([30.0, -20.0, 5.0], (len(t), 1)))
    assert "position: by its GPS, of latitude 47.3977420, longitude 8.5455940 deg" in log.notes
    assert len(log.signals[names.RATES].t) == COUNT  # the frames between are whole


def test_a_home_that_moves_moves_no_place(tmp_path):
    """Places are differences from the newest home, and positions are of the first."""
    moved = (HOME[0] + 3000, HOME[1] - 2000, HOME[2] + 50)
    others = {k: fix(k, home=HOME if k < 100 else moved) for k in range(0, COUNT, EVERY)}
    others[0], others[100] = home_frame() + others[0], home_frame(moved) + others[100]
    position = log_with(tmp_path, others, keys()).signals[names.POSITION]
    assert np.abs(position.values - expected())[:, :2].max() < 0.012


def test_where_not_every_row_is_logged_a_fix_has_a_time_of_its_own(tmp_path):
    others = fixes(late=400)
    others[0] = home_frame() + others[0]
    own = keys(("time", *FIELDS), (10, *PREDICTORS), (1, *CODES))
    position = log_with(tmp_path, others, own).signals[names.POSITION]
    t = np.array([ROWS[k][1] for k in range(0, COUNT, EVERY)]) * 1e-6
    np.testing.assert_allclose(position.t, t + 400e-6)


def test_releases_before_2025_have_a_position_and_no_velocity(tmp_path):
    old = tuple(each for each in FIELDS if "velned" not in each)
    frames = {
        k: fix(k)[: -len(b"".join(map(signed, (-2000, 3000, -500))))]
        for k in range(0, COUNT, EVERY)
    }
    frames[0] = home_frame() + frames[0]
    log = log_with(tmp_path, frames, keys(old, PREDICTORS[:6], CODES[:6], "4.4.0"))
    assert np.abs(log.signals[names.POSITION].values - expected())[:, :2].max() < 0.012
    assert "the speed over the ground alone" in log.missing[names.VELOCITY]


@pytest.mark.parametrize(("release", "climb"), [("3.3.0", 1.0), ("3.5.7", 0.1), ("4.0.6", 1.0)])
def test_steps_of_the_altitude_are_those_of_the_release(release, climb, tmp_path):
    """Decimetres, but centimetres from 3.4 to before 4.0."""
    others = fixes()
    others[0] = home_frame() + others[0]
    z = log_with(tmp_path, others, keys(release=release)).signals[names.POSITION].values[:, 2]
    assert z[-1] - z[0] == pytest.approx(climb * (expected()[-1, 2] - expected()[0, 2]), abs=0.11)


def test_fixes_without_satellites_or_a_home_are_left_out_and_counted(tmp_path):
    others = fixes()
    others[50] = fix(50, satellites=3)
    others[20] = home_frame() + others[20]  # those at 0 and 10 are before it
    log = log_with(tmp_path, others, keys())
    assert len(log.signals[names.POSITION].t) == COUNT // EVERY - 3
    assert "3 fixes of its GPS left out: too few satellites, no home, or damaged" in log.notes


def test_a_new_number_of_satellites_alone_is_no_place(tmp_path):
    others = fixes()
    others[0] = home_frame() + others[0]
    others[58] = fix(50, satellites=13)
    t = log_with(tmp_path, others, keys()).signals[names.POSITION].t
    assert len(t) == COUNT // EVERY and np.diff(t).min() > 0.009


def test_a_damaged_place_is_left_out(tmp_path):
    others = fixes()
    others[0] = home_frame() + others[0]
    nine_degrees = signed(90_000_000) + signed(0) + signed(4880)
    others[100] = b"G" + unsigned(12) + nine_degrees + unsigned(0) * 2 + signed(0) * 3
    log = log_with(tmp_path, others, keys())
    assert len(log.signals[names.POSITION].t) == COUNT // EVERY - 1
    assert len(log.signals[names.RATES].t) == COUNT


def test_fixes_behind_a_damaged_row_wait_for_a_time(tmp_path):
    others = fixes()
    others[0] = home_frame() + others[0]
    others[44] = b"\x00" * 5  # rubbish: the rows up to the frame I at 64 are lost
    log = log_with(tmp_path, others, keys())
    t = np.round(1e6 * log.signals[names.POSITION].t).astype(int)
    assert not {5000 + 1000 * k for k in (50, 60)} & set(t.tolist())
    assert len(t) == COUNT // EVERY - 2


def test_a_header_whose_fields_do_not_fit_gives_no_position_and_a_reason(tmp_path):
    log = log_with(tmp_path, {}, keys(FIELDS[:-1]))
    assert log.missing[names.POSITION] == "the header's fields of its GPS are damaged"


def test_a_gps_without_a_fix_gives_no_position_and_a_reason(tmp_path):
    path = tmp_path / "flight.bbl"
    path.write_bytes(blackbox(ROWS, keys()))
    assert "no fix" in open_log(path).missing[names.POSITION]
