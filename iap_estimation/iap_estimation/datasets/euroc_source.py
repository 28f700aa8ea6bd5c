# SPDX-License-Identifier: BSD-3-Clause
"""Folders in EuRoC's layout as data sets: one aircraft, images of one or two cameras, an inertial unit, no ranges.

``mav0/{cam0,cam1}/{data.csv,sensor.yaml,data/*}``, ``mav0/imu0/{data.csv,sensor.yaml}``, and what is true, if it
is known, in ``state_groundtruth_estimate0``, ``vicon0``, ``leica0`` or TUM-VI's ``mocap0``.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.config.bounds import LARGEST_NUMBER
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.dataset import FROM_CAMERAS, SensorDataset
from iap_estimation.datasets.deep_images import DEEP_GREY, LOOKED_AT, DeepLevels, levels_of
from iap_estimation.datasets.euroc_calibration import (
    on_imu,
    read_cameras,
    read_imu_file,
    read_place,
)
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import MEMS, ONE_CAMERA, AircraftData
from iap_estimation.navigation.measurements import Event, Images, Tally, inertial_sample
from iap_estimation.navigation.streams import LATEST, Pairing, by_stamp
from iap_io.bags.encoded_images import read_image
from iap_io.euroc.column_order import INERTIAL, POSES, read_ordered
from iap_io.euroc.tables import CsvTable, read_table

HOME = "mav0"
TRUTHS = ("state_groundtruth_estimate0", "vicon0", "leica0", "mocap0")
UNIT_TOLERANCE = 0.01  # of true attitudes, which some write with few digits
POSITION, POSE, STATE = 3, 7, 16  # columns of a truth that knows so much


def open_euroc(folder: Path) -> SensorDataset:
    """A folder that is, or holds, a ``mav0``.

    Raises:
        BadInput: a sensor or its calibration is missing or damaged, in one line.
    """
    home = folder if folder.name == HOME else folder / HOME
    for sensor, what in (("imu0", "inertial unit"), ("cam0", "left camera")):
        if not (home / sensor / "data.csv").is_file():
            raise BadInput(f"{home}: no {what}: {sensor}/data.csv is missing")
    noise, T_BI, imu_note = _imu_of(home)
    cameras = [home / name for name in ("cam0", "cam1") if (home / name).exists()]
    calibration = read_cameras([camera / "sensor.yaml" for camera in cameras])
    tables = _Tables(
        read_ordered(home / "imu0" / "data.csv", 6, INERTIAL),
        tuple(read_table(camera / "data.csv", 0) for camera in cameras),
    )
    start = min(int(tables.imu.stamps[0]), int(tables.cameras[0].stamps[0]))
    truth, truth_note = _truth(home, start, T_BI)
    alone = None if len(cameras) == 2 else ONE_CAMERA
    levels = levels_of(_first_images(home, tables.cameras))
    notes = (alone, imu_note, *tables.notes, levels.note, truth_note)
    name = (home.parent.name if home.name == HOME else home.name) or "aircraft"
    one = AircraftData(name, on_imu(calibration, T_BI), noise, truth=truth)
    tally = Tally()
    return SensorDataset(
        str(folder),
        name,
        (one,),
        start,
        partial(_events, home, tables, start, levels, tally),
        tally,
        tuple(note for note in notes if note is not None),
        FROM_CAMERAS,
        end=1e-9 * (int(tables.imu.stamps[-1]) - start),
    )


class _Tables(NamedTuple):
    """The tables of the inertial unit and of both cameras."""

    imu: CsvTable
    cameras: tuple[CsvTable, ...]

    @property
    def notes(self) -> list[str | None]:
        """A note on each."""
        return [table.note for table in (self.imu, *self.cameras)]


def _imu_of(home: Path) -> tuple[Array, Array, str | None]:
    """Noise densities (4,) and place (4, 4) of the inertial unit, and what the user should know, if anything."""
    path = home / "imu0" / "sensor.yaml"
    if path.exists():
        return read_imu_file(path)
    note = f"{path} is missing: a small MEMS unit's noise is taken, at the body's origin"
    return np.array(MEMS), np.eye(4), note


def _events(
    home: Path, tables: _Tables, start: int, levels: DeepLevels, tally: Tally
) -> Iterator[Event]:
    """Samples, and before the first that is younger, the images; those are read when it is their turn."""
    tally.clear()
    pairs, imu = _pairs(home, tables.cameras, start, tally), tables.imu
    waiting, source = next(pairs, None), str(home / "imu0" / "data.csv")
    rows = zip(_times(imu, start), imu.values, strict=True)
    for t, row in by_stamp(rows, source, tally, LATEST):
        while waiting is not None and waiting[0] < t:
            yield 0, _images(levels, *waiting)
            waiting = next(pairs, None)
        sample = inertial_sample(t, row[:6], tally)
        if sample is not None:
            yield 0, sample
    while waiting is not None:
        yield 0, _images(levels, *waiting)
        waiting = next(pairs, None)


def _pairs(
    home: Path, cameras: Sequence[CsvTable], start: int, tally: Tally
) -> Iterator[tuple[float, Path] | tuple[float, Path, Path]]:
    """Times and files of stereo pairs, or of the images of one camera alone, in order."""
    rows: list[tuple[float, int, Path]] = []
    for side, table in enumerate(cameras):
        folder = home / f"cam{side}"
        named = zip(_times(table, start), table.names, strict=True)
        ordered = by_stamp(named, str(folder / "data.csv"), tally, LATEST)
        rows += [(t, side, _image_file(folder / "data", name)) for t, name in ordered]
    if len(cameras) == 1:
        yield from ((t, path) for t, _, path in rows)
        return
    pairing: Pairing[Path] = Pairing(tally)
    for t, side, path in sorted(rows):
        pair = pairing.add(side, t, path)
        if pair is not None:
            yield pair
    pairing.end()


def _image_file(folder: Path, name: str) -> Path:
    """The file of an image that a table names; of a name with another machine's path, its last part counts."""
    path = folder / name
    return path if path.is_file() else folder / name.replace("\\", "/").rpartition("/")[2]


def _times(table: CsvTable, start: int) -> list[float]:
    """Times of rows since a start [s]."""
    return [(stamp - start) * 1e-9 for stamp in table.stamps.tolist()]


def _images(levels: DeepLevels, t: float, left: Path, right: Path | None = None) -> Images:
    second = None if right is None else levels.grey(_read(right))
    return Images(t, levels.grey(_read(left)), second)


def _first_images(home: Path, cameras: Sequence[CsvTable]) -> Iterator[NDArray[Any]]:
    """Images over the length of the tables that show which levels are used; those that are missing are met later."""
    for side, table in enumerate(cameras):
        for name in table.names[:: max(1, len(table.names) // LOOKED_AT)]:
            path = _image_file(home / f"cam{side}" / "data", name)
            if path.is_file():
                yield _read(path)


def _read(path: Path) -> NDArray[Any]:
    try:
        return read_image(path, DEEP_GREY)
    except ValueError as error:
        raise BadInput(f"{path}: not a readable image: {error}") from error


def _truth(home: Path, start: int, T_BI: Array) -> tuple[Truth | None, str | None]:
    """Ground truth of the inertial unit, from the best source that there is, and what the user should know of it."""
    truth_home = next(
        (home / name for name in TRUTHS if (home / name / "data.csv").is_file()), None
    )
    if truth_home is None:
        return None, "nothing says what is true: there are trajectories, no errors"
    T_IS: Array = np.linalg.inv(T_BI) @ read_place(truth_home / "sensor.yaml")
    path = truth_home / "data.csv"
    table = read_ordered(path, POSITION, POSES)
    t = np.asarray((table.stamps - start) * 1e-9, dtype=float)
    if not np.all(np.diff(t) > 0.0):
        raise BadInput(f"{path}: stamps go backwards")
    far = (np.abs(table.values) > LARGEST_NUMBER).any(axis=1)
    if far.any():
        raise BadInput(f"{path}: a number of row {far.argmax() + 1} is beyond {LARGEST_NUMBER:g}")
    if table.values.shape[1] < POSE:
        poses = np.hstack([table.values[:, :3], np.full((len(t), 4), np.nan)])
        return Truth(t, poses, p_BM_B=T_IS[:3, 3]), table.note
    off = np.abs(np.linalg.norm(table.values[:, 3:7], axis=1) - 1.0)
    if off.max() > UNIT_TOLERANCE:
        raise BadInput(f"{path}: the attitude of row {off.argmax() + 1} is no unit quaternion")
    return _of_poses(t, table.values, T_IS), table.note


def _of_poses(t: Array, values: Array, T_IS: Array) -> Truth:
    """Truth of I, from rows (K, 7 or 16) of S: place, attitude with w first, velocity, biases."""
    q_WS = so3.normalized(np.roll(values[:, 3:7], -1, axis=1))
    q_SI = so3.quaternion_from_matrix(T_IS[:3, :3].T)
    q_WI = so3.multiply(q_WS, np.broadcast_to(q_SI, q_WS.shape))
    arm_W = so3.rotate(q_WI, np.broadcast_to(-T_IS[:3, 3], (len(t), 3)))
    poses = np.hstack([values[:, :3] + arm_W, q_WI])
    has_state = values.shape[1] >= STATE and not T_IS[:3, 3].any()
    known = has_state and bool(values[:, 10:16].any())  # zeros stand for what is not known
    return Truth(
        t,
        poses,
        values[:, 7:10] if has_state else None,
        values[:, 10:16] if known else None,
    )
