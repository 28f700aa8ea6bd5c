# SPDX-License-Identifier: BSD-3-Clause
"""Notes of a recording besides the states of vehicles: couplings, covariances of estimates, measured points."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.scene_notes import (
    SceneNotes,
    has_points,
    in_map,
    points_of,
    rows_by_frame,
)
from iap_description.arrays import Array
from iap_description.signals import Step
from iap_description.vehicles.assembly import Assembly
from iap_io.bags.bag_reading import raw_messages
from iap_io.runs.topics import BAG, LATCHES, covariance_topics
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import LatchStateMessage, UncertainPoseMessage

CLOUD_PERIOD = 0.25  # between two looks for new points [s]
NANO = 1e-9


class _Changes(NamedTuple):
    """Values that stay until they change.

    Attributes:
        t: (K,) times [s].
        values: (K, n).
    """

    t: Array
    values: NDArray[np.generic]

    def at(self, t: float) -> NDArray[np.generic] | None:
        """The values (n,) at a time [s]; None before the first."""
        k = int(np.searchsorted(self.t, t + NANO, side="right")) - 1
        return None if k < 0 else self.values[k]


class RecordedSceneNotes:
    """Additions to the instants of a recorded flight.

    Args:
        run: the flight's folder.
    """

    def __init__(self, run: RecordedRun) -> None:
        self._run, self._meta = run, run.data.meta
        self._sensors = [each for each in self._meta.sensors if has_points(each)]
        self._slot: tuple[int, dict[str, Array]] = (-1, {})

    def at(self, t: float) -> SceneNotes:
        """Notes of a time [s]."""
        covariances, clouds = self._covariances_at(t), self._clouds_at(t)
        return SceneNotes(self._couplings_at(t), covariances, clouds, self._objects_at(t))

    def _objects_at(self, t: float) -> Mapping[str, Array]:
        track = self._run.data.objects
        return {} if track is None else dict(zip(track.names, track.at(t), strict=True))

    @cached_property
    def _couplings(self) -> list[tuple[Sequence[str], _Changes]]:
        """States of latches, and of joints between modules, with their names."""
        couplings = list[tuple[Sequence[str], _Changes]]()
        if self._meta.latches:
            reader = MessageReader(LatchStateMessage, frames=())
            rows = [
                (NANO * stamp, reader.read(data).phases.copy())
                for _, stamp, data in raw_messages(self._run.folder / BAG, (LATCHES,))
            ]
            couplings.append((self._meta.latches, _changes(rows, len(self._meta.latches))))
        for modules in self._run.modules.values():
            rows = list(zip(modules["t"].tolist(), modules["states"], strict=True))
            names = tuple(map(str, modules["joints"]))
            couplings.append((names, _changes(rows, len(names))))
        return couplings

    def _couplings_at(self, t: float) -> Mapping[str, int]:
        states: dict[str, int] = {}
        for names, changes in self._couplings:
            values = changes.at(t)
            if values is not None:
                states |= dict(zip(names, map(int, values), strict=True))
        return states

    @cached_property
    def _covariances(self) -> dict[str, _Changes]:
        """Covariances (3, 3) of estimated positions, by VEHICLE/BODY."""
        bodies = {
            topic: f"{each.name}/{body}"
            for each in self._meta.vehicles
            for body, topic in covariance_topics(each).items()
        }
        rows: dict[str, list[tuple[float, Array]]] = {each: [] for each in bodies.values()}
        if bodies:
            reader = MessageReader(UncertainPoseMessage, frames=())
            for connection, stamp, data in raw_messages(self._run.folder / BAG, bodies):
                C = reader.read(data).covariance[:3, :3].flatten()
                rows[bodies[connection.topic]].append((NANO * stamp, C))
        return {body: _changes(each, 9) for body, each in rows.items()}

    def _covariances_at(self, t: float) -> Mapping[str, Array]:
        known = {body: changes.at(t) for body, changes in self._covariances.items()}
        return {
            body: np.reshape(C, (3, 3)).astype(float) for body, C in known.items() if C is not None
        }

    def _clouds_at(self, t: float) -> Mapping[str, Array]:
        """The last points of each sensor; they stay the same within `CLOUD_PERIOD`."""
        slot = int(t / CLOUD_PERIOD)
        if self._sensors and slot != self._slot[0]:
            self._slot = (slot, self._read_clouds(t))
        return self._slot[1]

    def _read_clouds(self, t: float) -> dict[str, Array]:
        by_topic = {each.topic: each for each in self._sensors}
        stop = round(t / NANO) + 1
        start = max(0, stop - round(2.0 / (NANO * min(each.rate for each in self._sensors))))
        clouds = {}
        for reading in read_sensors(self._run.folder / BAG, self._sensors, start=start, stop=stop):
            sensor = by_topic[reading.source.topic]
            points = points_of(sensor, reading)
            if points is not None:
                rows = rows_by_frame(self._vehicles, self._steps(reading.t))
                clouds[sensor.topic] = in_map(sensor, points, rows)
        return clouds

    @cached_property
    def _vehicles(self) -> list[Assembly]:
        return [Assembly.of(v.platform, v.name) for v in self._run.scenario.vehicles]

    def _steps(self, t: float) -> list[Step]:
        """Steps of all vehicles at a time [s]."""
        columns = [each.columns for each in self._run.finite_data.vehicles]
        return [
            each.step(min(int(np.searchsorted(each.t, t - 0.5e-3)), len(each.t) - 1))
            for each in columns
        ]


def _changes(rows: Sequence[tuple[float, NDArray[np.generic]]], size: int) -> _Changes:
    """Those rows at which values change."""
    t = np.array([each for each, _ in rows])
    values = np.array([each for _, each in rows]).reshape(-1, size)
    is_new = np.ones(len(t), bool)
    is_new[1:] = (values[1:] != values[:-1]).any(axis=1)
    return _Changes(t[is_new], values[is_new])
