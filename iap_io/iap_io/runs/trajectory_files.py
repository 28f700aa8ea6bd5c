# SPDX-License-Identifier: BSD-3-Clause
"""The trajectories of a run folder: poses of its vehicles and their references in TUM format."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_io.bags.bag_writer import GrowingFile, RecordingFailed
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import RunData
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.run_reader import VehicleTracks
from iap_io.trajectories.tum import tum_text


class TrajectoryFiles:
    """Writes every body's trajectory and the reference of every vehicle in the TUM format, piece by piece.

    A context manager: the files get their names once all pieces are there.

    Args:
        folder: of the run.
        meta: the run.
        tracks: of each vehicle; a replay's reference is the command as it was recorded.

    Raises:
        RecordingFailed: from here and every method, when the disk is full or cannot be written.
    """

    def __init__(self, folder: Path, meta: RunMeta, tracks: Sequence[VehicleTracks]) -> None:
        self._folder, self._vehicles = folder, meta.vehicles
        self._has_reference = [each.commanded is not None for each in tracks]
        self._files = dict[str, GrowingFile]()
        for vehicle, each in zip(meta.vehicles, tracks, strict=True):
            if each.commanded is not None:
                self._append(f"reference_{vehicle.name}", each.commanded.t, each.commanded.poses)

    def add(self, columns: Sequence[Columns]) -> None:
        """Write the next rows of every vehicle."""
        for vehicle, c, has_reference in zip(
            self._vehicles, columns, self._has_reference, strict=True
        ):
            for i, body in enumerate(vehicle.bodies):
                suffix = "" if i == 0 else f"_{body}"
                self._append(f"trajectory_{vehicle.name}{suffix}", c.t, c.x[:, i, :7])
                if c.estimated is not None:
                    known = np.isfinite(c.estimated[:, i]).all(axis=1)
                    estimated = c.estimated[known, i, :7]
                    self._append(f"estimate_{vehicle.name}{suffix}", c.t[known], estimated)
            if not has_reference:
                self._append(f"reference_{vehicle.name}", c.t, c.reference[:, :7])

    def _append(self, name: str, t: Array, poses: Array) -> None:
        if name not in self._files:
            part = self._path(name, ".part")
            try:
                self._files[name] = GrowingFile(part)
            except OSError as error:
                raise RecordingFailed(f"{part}: cannot be made: {error.strerror}") from error
        self._files[name].append(tum_text(t, poses))

    def _path(self, name: str, suffix: str = "") -> Path:
        return self._folder / f"{'.' if suffix else ''}{name}.tum{suffix}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for name, file in self._files.items():
            file.close()
            part = self._path(name, ".part")
            if kind is None:
                os.replace(part, self._path(name))
            else:
                part.unlink()


def write_trajectories(folder: Path, run: RunData) -> None:
    """Write the trajectories of a run that has been read whole, see `TrajectoryFiles`."""
    with TrajectoryFiles(
        folder, run.meta, [VehicleTracks(v.commanded) for v in run.vehicles]
    ) as files:
        files.add([vehicle.columns for vehicle in run.vehicles])
