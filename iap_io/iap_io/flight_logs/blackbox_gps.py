# SPDX-License-Identifier: BSD-3-Clause
"""Fixes of a Betaflight's GPS in its blackbox: frames G, whose places are differences from the home of frames H.

Coordinates are in 1e-7 deg, speeds in cm/s. Altitudes are in 0.1 m, but from 3.4 to before 4.0 in 0.01 m
[Betaflight's blackbox.c and gps.h of these releases]. The position is east, north and up of the first home.

A frame comes with a new place, and also with a new number of satellites alone, some milliseconds before the place: such
frames have no place of their own, and are left out.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Integers
from iap_description.math.geodesy import Geodetic, local
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.log_tables import LogField, LogTable

GPS = "gps"
GPS_FIELDS = (
    LogField(names.POSITION, GPS, tuple(f"position[{i}]" for i in range(3))),
    LogField(
        names.VELOCITY,
        GPS,
        tuple(f"GPS_velned[{i}]" for i in range(3)),
        "ned",
        scale=0.01,
        releases="from 2025.12",
    ),
)
FROM_HOME, FROM_MAIN_TIME = 7, 10  # predictors
DEGREE = 1e7  # steps of a coordinate
DECIMETRE, CENTIMETRE = 0.1, 0.01
CENTIMETRES = (
    (3, 4),
    (4, 0),
)  # releases from the first to before the second that log altitudes in them
LEAST_SATELLITES = 4  # of a fix in three dimensions
LEAST_FIXES = 2
FURTHEST = 100_000.0  # from the first home, beyond which a fix is damaged [m]
NO_VELOCITY = "its GPS logs the speed over the ground alone (releases before 2025.12)"
NO_FIX = "its GPS has no fix by four satellites or more"


class GpsFixes(NamedTuple):
    """Fixes in a log.

    Attributes:
        table: of position [m] and velocities [cm/s], empty where there is none.
        notes: what was assumed or left out.
        why: reason for a signal of it that is not there; empty without a GPS.
    """

    table: LogTable
    notes: tuple[str, ...] = ()
    why: str = ""


NO_FIXES = GpsFixes(LogTable(GPS, np.zeros(0), {}))


def gps_fixes(
    keys: Mapping[str, str], rows: Integers, t_us: Array, release: tuple[int, int]
) -> GpsFixes:
    """The fixes of a log.

    Args:
        keys: of its header.
        rows: (K, 2 + h + g) as `blackbox_frames.decoded` has them.
        t_us: times of its frames I and P [us].
        release: of Betaflight.
    """
    fields, homes = _list(keys, "Field G name"), _list(keys, "Field H name")
    needed = {"GPS_coord[0]", "GPS_coord[1]", "GPS_altitude"}
    if not needed <= set(fields) or not {"GPS_home[0]", "GPS_home[1]"} <= set(homes):
        return NO_FIXES
    if 2 + len(homes) + len(fields) != rows.shape[1]:
        return NO_FIXES._replace(why="the header's fields of its GPS are damaged")
    numbers = rows.astype(float)
    home = dict(zip(homes, numbers[:, 2 : 2 + len(homes)].T, strict=True))
    columns = dict(zip(fields, numbers[:, 2 + len(homes) :].T, strict=True))
    t = t_us[rows[:, 0]]
    for name, predictor in zip(fields, _list(keys, "Field G predictor"), strict=False):
        if predictor == str(FROM_HOME):
            columns[name] = columns[name] + home[f"GPS_home[{name[-2]}]"]
        if predictor == str(FROM_MAIN_TIME):
            t = t + columns[name]
    sound = _sound(columns, rows[:, 1], needs_home=bool((rows[:, 1] > 0).any()))
    position, datum = _positions(columns, home, sound, _altitude_step(release))
    near = np.linalg.norm(position, axis=1) < FURTHEST
    lost = len(rows) - int(near.sum())
    near[1:] &= (np.diff(position, axis=0) != 0.0).any(axis=1)  # else another number of satellites
    columns |= {f"position[{i}]": x for i, x in enumerate(position.T)}
    kept = {name: x[sound][near] for name, x in columns.items() if not name.startswith("position")}
    kept |= {f"position[{i}]": x[near] for i, x in enumerate(position.T)}
    if near.sum() < LEAST_FIXES:
        return NO_FIXES._replace(why=NO_FIX)
    notes = [
        f"position: by its GPS, of latitude {datum.latitude:.7f}, longitude {datum.longitude:.7f} deg"
    ]
    if lost:
        notes.append(f"{lost} fixes of its GPS left out: too few satellites, no home, or damaged")
    return GpsFixes(LogTable(GPS, 1e-6 * t[sound][near], kept), tuple(notes), NO_VELOCITY)


def _list(keys: Mapping[str, str], key: str) -> list[str]:
    return [each.strip() for each in keys.get(key, "").split(",") if each.strip()]


def _sound(columns: Mapping[str, Array], came: Integers, *, needs_home: bool) -> Array:
    """Mask of the fixes that are on Earth, by enough satellites, and behind a home where the log has one."""
    latitude, longitude = columns["GPS_coord[0]"] / DEGREE, columns["GPS_coord[1]"] / DEGREE
    sound = (np.abs(latitude) <= 90.0) & (np.abs(longitude) <= 180.0)
    if "GPS_numSat" in columns:
        sound &= columns["GPS_numSat"] >= LEAST_SATELLITES
    return np.asarray(sound & (came > 0) if needs_home else sound)


def _altitude_step(release: tuple[int, int]) -> float:
    """Metres of a step of altitudes."""
    first, behind = CENTIMETRES
    return CENTIMETRE if first <= release < behind else DECIMETRE


def _positions(
    columns: Mapping[str, Array], home: Mapping[str, Array], sound: Array, step: float
) -> tuple[Array, Geodetic]:
    """Positions (K, 3) of the sound fixes, and the place that they are of: the first home, or the first fix."""
    if not sound.any():
        return np.zeros((0, 3)), Geodetic(0.0, 0.0, 0.0)
    places = [
        Geodetic(float(a) / DEGREE, float(b) / DEGREE, float(c) * step)
        for a, b, c in zip(
            columns["GPS_coord[0]"][sound],
            columns["GPS_coord[1]"][sound],
            columns["GPS_altitude"][sound],
            strict=True,
        )
    ]
    first = {name: float(x[sound][0]) for name, x in home.items()}
    datum = places[0]
    if first["GPS_home[0]"] or first["GPS_home[1]"]:
        altitude = first.get("GPS_home[2]", 0.0) * step or datum.altitude
        datum = Geodetic(first["GPS_home[0]"] / DEGREE, first["GPS_home[1]"] / DEGREE, altitude)
    return np.array([local(each, datum) for each in places]), datum
