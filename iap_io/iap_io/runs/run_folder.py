# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a run: made once, never overwritten, and all that metrics and plots read.

Its files::

    metrics.json  config.yaml  sensors.yaml  bag/  trajectory_NAME.tum  trajectory_NAME_drone_i.tum
    reference_NAME.tum  estimate_NAME.tum  estimate_NAME_drone_i.tum  plots/*.png
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from iap_description.config.json_files import read_json
from iap_description.config.whole_files import write_whole
from iap_description.errors import BadInput
from iap_description.process import interrupts
from iap_description.sensors.sensor_info import SensorInfo, sensors_text
from iap_io.bags.bag_writer import RecordingFailed
from iap_io.runs.columns import Columns
from iap_io.runs.object_track import ObjectTrack
from iap_io.runs.run_meta import RunMeta, Track, WrenchTrack
from iap_io.runs.run_reader import RunReader
from iap_io.runs.vehicle_meta import VehicleMeta

METRICS, CONFIG, SENSORS = "metrics.json", "config.yaml", "sensors.yaml"
CHECKPOINT = "checkpoint.npz"  # of a training, which goes on from it
COMPARED = "compare"  # folder of the flights set beside this one
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml's is faster, where it is there


@dataclass(frozen=True)
class VehicleRun:
    """The recording of one vehicle.

    Attributes:
        meta: the vehicle.
        columns: one row per control tick.
        commanded: a replay's commands as they were recorded.
        actual: what the real aircraft did.
        measured: wrenches on it.
    """

    meta: VehicleMeta
    columns: Columns
    commanded: Track | None = None
    actual: Track | None = None
    measured: WrenchTrack | None = None


@dataclass(frozen=True)
class RunData:
    """A recorded run.

    Attributes:
        meta: the run.
        vehicles: their recordings.
        objects: states of the world's objects; None where none moves freely, or an older version recorded the run.
    """

    meta: RunMeta
    vehicles: tuple[VehicleRun, ...]
    objects: ObjectTrack | None = None


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
        if out is not None and not out.exists():
            raise BadInput(f"--out {out}: cannot be made: {out.parent} is no folder") from error
        raise BadInput(
            f"--out {out or base}: exists already; runs are never overwritten"
        ) from error
    except OSError as error:
        raise BadInput(f"--out {out or base}: cannot be made: {error.strerror}") from error


@contextmanager
def new_folder(out: Path | None, name: str, base: Path = Path("runs")) -> Iterator[Path]:
    """A folder of `create_run_folder`, for what is written in a ``with`` block.

    A refusal removes it unless it can be gone on with, and any other error unless what is in it opens: a whole result,
    or a recording. An interrupt says that it is kept.

    Raises:
        BadInput: see `create_run_folder`.
    """
    folder: Path | None = None
    try:
        with interrupts.Deferral():
            folder = create_run_folder(out, name, base)
        yield folder
    except BaseException as error:
        with interrupts.handled(interrupts.pass_by):  # it takes a moment
            is_kept = folder is not None and _is_of_use(folder, after=error)
            if folder is not None and not is_kept:
                remove_folder(folder)
        if is_kept and isinstance(error, KeyboardInterrupt):
            error.args = error.args or (f"what was flown is in {folder}",)
        raise


def remove_folder(folder: Path) -> None:
    """Remove a folder of which nothing is kept; one that cannot be listed, for want of open files, loses its inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        for name in (CONFIG, SENSORS):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def empty_folder(folder: Path) -> None:
    """Remove what is in a run folder whose flight begins again."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_of_use(folder: Path, *, after: BaseException) -> bool:
    """True if a folder holds what can be gone on with, or but for a refusal what opens."""
    if (folder / CHECKPOINT).is_file():
        return True
    if isinstance(after, BadInput):
        return False
    return (folder / METRICS).is_file() or _is_recording(folder)


def _is_recording(folder: Path) -> bool:
    """True if a folder holds a recording that is complete as far as it goes."""
    try:
        return len(next(RunReader(folder).pieces())[0].t) > 0
    except BadInput:
        return False


def _next_free(base: Path, scenario: str) -> Path:
    start = f"{scenario}-"
    numbers = [each.name[len(start) :] for each in base.iterdir() if each.name.startswith(start)]
    number = 1 + max(
        (int(text) for text in numbers if re.fullmatch("[0-9]{1,9}", text)), default=0
    )
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
    text = yaml.dump(dict(config), Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    write_file(folder / CONFIG, text.encode())
    if sensors:
        write_file(folder / SENSORS, sensors_text(sensors).encode())


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write metrics.json; a number that is none is refused."""
    write_file(folder / METRICS, f"{json.dumps(metrics, indent=2, allow_nan=False)}\n".encode())


def read_metrics(folder: Path) -> dict[str, Any]:
    """Read metrics.json of a run.

    Raises:
        BadInput: it is missing or damaged.
    """
    metrics = read_json(folder / METRICS)
    if not isinstance(metrics, dict):
        raise BadInput(f"{folder / METRICS}: expected a mapping, found {type(metrics).__name__}")
    return metrics


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; its folder is made if it is missing.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    try:
        write_whole(path, data)
    except OSError as error:
        raise RecordingFailed(f"{path}: cannot be written: {error.strerror}") from error


def load_run(folder: Path, *, at_most: int | None = None) -> RunData:
    """Read a run back from its bag, also one that was interrupted or recorded by the ROS nodes.

    Args:
        folder: of the run.
        at_most: about so many control ticks of a longer run, evenly chosen; None reads all of them.

    Raises:
        BadInput: not a run folder, or its bag is damaged or empty.
    """
    reader = RunReader(folder)
    parts = zip(
        reader.meta.vehicles, reader.columns(at_most=at_most), reader.tracks(), strict=True
    )
    vehicles = (VehicleRun(meta, c, **vars(tracks)) for meta, c, tracks in parts)
    return RunData(reader.meta, tuple(vehicles), reader.objects(at_most=at_most))
