# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a run: made once, never overwritten, and all that metrics and plots read.

metrics.json  config.yaml  sensors.yaml  bag/  trajectory_NAME.tum  trajectory_NAME_drone_i.tum
reference_NAME.tum  estimate_NAME.tum  estimate_NAME_drone_i.tum  plots/*.png
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import ValidationError

from iap_description.errors import BadInput
from iap_description.plain_yaml import read_yaml
from iap_description.sensors.sensor_info import SensorInfo, sensors_text
from iap_description.text_files import is_file, read_text
from iap_io.bags.bag_reading import METADATA, parsing, raw_messages
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.runs import topics
from iap_io.runs.column_messages import LARGEST, columns_of, seconds
from iap_io.runs.columns import Columns
from iap_io.runs.run_files import BAG, META
from iap_io.runs.run_meta import RunMeta, Track, VehicleMeta
from iap_io.runs.topics import topic
from iap_io.trajectories.tum import tum_text
from iap_io.wire.cdr import records_of, stamps_of

METRICS, CONFIG, SENSORS = "metrics.json", "config.yaml", "sensors.yaml"
COMPARED = "compare"  # folder of the flights set beside this one


@dataclass(frozen=True)
class VehicleRun:
    """The recording of one vehicle.

    Attributes:
        meta: the vehicle.
        columns: one row per control tick.
        given: a replay's commands as they were recorded.
        actual: what the real aircraft did.
    """

    meta: VehicleMeta
    columns: Columns
    given: Track | None = None
    actual: Track | None = None


@dataclass(frozen=True)
class RunData:
    """A recorded run."""

    meta: RunMeta
    vehicles: tuple[VehicleRun, ...]


def create_run_folder(out: Path | None, scenario: str, base: Path = Path("runs")) -> Path:
    """Make a new folder: `out`, or the next free of ``base/SCENARIO-001``, ``-002``, ...

    Raises:
        BadInput: `out` exists, or the folder cannot be made.
    """
    try:
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.mkdir()
            return out
        base.mkdir(parents=True, exist_ok=True)
        return _next_free(base, scenario)
    except FileExistsError as error:
        raise BadInput(
            f"--out {out or base}: exists already; runs are never overwritten"
        ) from error
    except OSError as error:
        raise BadInput(f"--out {out or base}: cannot be made: {error.strerror}") from error


def _next_free(base: Path, scenario: str) -> Path:
    start = f"{scenario}-"
    taken = [each.name[len(start) :] for each in base.iterdir() if each.name.startswith(start)]
    number = 1 + max((int(text) for text in taken if re.fullmatch("[0-9]{1,9}", text)), default=0)
    while True:
        folder = base / f"{scenario}-{number:03d}"
        try:
            folder.mkdir()
            return folder
        except FileExistsError:  # another run was faster
            number += 1


def write_config(
    folder: Path, config: Mapping[str, Any], sensors: Sequence[SensorInfo] = ()
) -> None:
    """Write the resolved configuration, a tree of plain values, and the run's sensors where there are any."""
    text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True)
    write_file(folder / CONFIG, text.encode())
    if sensors:
        write_file(folder / SENSORS, sensors_text(sensors).encode())


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write metrics.json; a number that is none is refused."""
    text = json.dumps(metrics, indent=2, allow_nan=False) + "\n"
    write_file(folder / METRICS, text.encode())


def read_metrics(folder: Path) -> dict[str, Any]:
    """Read metrics.json of a run.

    Raises:
        BadInput: it is missing or damaged.
    """
    try:
        metrics = json.loads(read_text(folder / METRICS))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{folder / METRICS}: cannot be read: {error}") from error
    if not isinstance(metrics, dict):
        raise BadInput(f"{folder / METRICS}: expected a mapping, found {type(metrics).__name__}")
    return metrics


def write_trajectories(folder: Path, run: RunData) -> None:
    """Write every body's trajectory and the reference of every vehicle in the TUM format."""
    for vehicle in run.vehicles:
        name, c = vehicle.meta.name, vehicle.columns
        for i, body in enumerate(vehicle.meta.bodies):
            suffix = "" if i == 0 else f"_{body}"
            text = tum_text(c.t, c.x[:, i, :7])
            write_file(folder / f"trajectory_{name}{suffix}.tum", text.encode())
            if c.estimated is not None:
                known = np.isfinite(c.estimated[:, i]).all(axis=1)
                text = tum_text(c.t[known], c.estimated[known, i, :7])
                write_file(folder / f"estimate_{name}{suffix}.tum", text.encode())
        given = vehicle.given or Track(c.t, c.reference[:, :7])
        write_file(folder / f"reference_{name}.tum", tum_text(given.t, given.poses).encode())


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; its folder is made if it is missing.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        if part.exists():
            part.unlink()
        raise RecordingFailed(f"{path}: cannot be written: {error.strerror}") from error


def load_run(folder: Path) -> RunData:
    """Read a run back from its bag, also one that was interrupted or recorded by the ROS nodes.

    Raises:
        BadInput: not a run folder, or its bag is damaged or empty.
    """
    bag = folder / BAG
    meta = _read_meta(bag)
    messages = _read_messages(bag, _wanted(meta))
    with parsing(bag, "recording"):
        return RunData(meta, tuple(_vehicle_run(vehicle, messages) for vehicle in meta.vehicles))


def _read_meta(bag: Path) -> RunMeta:
    path = bag / METADATA
    if not is_file(path):
        raise BadInput(f"{bag}: no recording of a run: there is no {METADATA}")
    try:
        return RunMeta.model_validate_json(
            read_yaml(path)["rosbag2_bagfile_information"]["custom_data"][META]
        )
    except (TypeError, KeyError, ValidationError) as error:
        raise BadInput(f"{path}: key 'custom_data.{META}' is missing or damaged") from error


def _wanted(meta: RunMeta) -> set[str]:
    tracks = (topics.GIVEN, topics.ACTUAL)
    wanted = {v.name: (*_needed(v), *tracks, *_estimates(v)) for v in meta.vehicles}
    return {topic(vehicle, name) for vehicle, names in wanted.items() for name in names}


def _needed(vehicle: VehicleMeta) -> tuple[str, ...]:
    """The topics that every recording of a vehicle has."""
    always = (topics.STATE, topics.REFERENCE, topics.COMMAND)
    return (*always, *topics.WRENCH_TOPICS) if vehicle.feels else always


def _estimates(vehicle: VehicleMeta) -> tuple[str, ...]:
    """Topics of the estimates that a vehicle flies on."""
    return tuple(map(topics.estimate_topic, vehicle.bodies)) if vehicle.is_estimated else ()


def _read_messages(bag: Path, wanted: set[str]) -> dict[str, NDArray[Any]]:
    """Message records by topic, in order of their time."""
    types: dict[str, str] = {}
    found: dict[str, list[bytes]] = {}
    for connection, _, data in raw_messages(bag, wanted):
        types[connection.topic] = connection.msgtype
        found.setdefault(connection.topic, []).append(data)
    with parsing(bag, "recording"):
        return {name: records_of(types[name], data) for name, data in found.items()}


def _vehicle_run(vehicle: VehicleMeta, messages: dict[str, NDArray[Any]]) -> VehicleRun:
    prefix = topic(vehicle.name, "")
    own = {
        name.removeprefix(prefix): each
        for name, each in messages.items()
        if name.startswith(prefix)
    }
    for name in _needed(vehicle):
        if name not in own:
            raise ValueError(f"no message on {topic(vehicle.name, name)}")
    given, actual = (_track(own.get(name)) for name in (topics.GIVEN, topics.ACTUAL))
    return VehicleRun(vehicle, columns_of(own, vehicle), given, actual)


def _track(records: NDArray[Any] | None) -> Track | None:
    if records is None:
        return None
    track = Track(seconds(stamps_of(records["header"])), records["pose"].astype(float))
    if not (np.abs(track.poses) <= LARGEST).all() or not np.all(np.diff(track.t) > 0.0):
        raise ValueError("a recorded command or flight is no path in time")
    return track
