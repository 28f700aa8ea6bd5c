# SPDX-License-Identifier: BSD-3-Clause
"""Sources of what a viewer shows: a run folder, a flight in this process, or topics."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.control import Control, Disturber, ReferenceHand
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.recorded_scene_notes import RecordedSceneNotes
from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.scene_notes import Coupling, SceneNotes, couplings_of
from iap_bringup.viewing.stage import Stage
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import REF_P, P
from iap_io.runs.run_folder import CONFIG
from iap_io.runs.run_meta import RunMeta
from iap_sensors.mounted.rig_spec import RigSpec
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.rig_spec import rig_spec

MAX_POINTS = 600  # of a path that is drawn
REFERENCE_PERIOD = 0.15  # between two points of a reference's way to come [s]
FEWEST_POINTS, MOST_POINTS = 200, 3000  # of it


class LiveSource(Protocol):
    """A flight that is shown while it is flown, here or by nodes."""

    @property
    def control(self) -> Control:
        """Of its time."""

    @property
    def hand(self) -> ReferenceHand:
        """On its references."""

    @property
    def disturber(self) -> Disturber | None:
        """Brings wind and faults; None where nobody can."""

    @property
    def rig(self) -> RigSpec:
        """Vehicles, sensors and world."""

    @property
    def meta(self) -> RunMeta:
        """Description of the flight."""

    @property
    def couplings(self) -> Sequence[Coupling]:
        """Latches, and joints between modules."""

    @property
    def references(self) -> Sequence[Array]:
        """Ways (n, 3) of the vehicles' references to come [m]."""

    def steps(self) -> Steps:
        """One step of every vehicle at the newest instant that is shown; empty before the first."""

    def notes(self) -> SceneNotes:
        """Notes of that instant."""


def reference_ways(flight: Flight) -> list[Array]:
    """Ways (n, 3) of the references of a flight's vehicles [m]."""
    return [
        np.vstack(
            [
                each.timeline.rows(k, k + 1)[:, REF_P]
                for k in _instants(each.timeline.last, 1.0 / flight.scenario.rates.control_hz)
            ]
        )
        for each in flight.vehicles
    ]


def _instants(last: int, dt: float) -> list[int]:
    """Some instants of a flight with a period [s], evenly chosen: a long flight has not the corners of a short one."""
    count = int(np.clip(last * dt / REFERENCE_PERIOD, FEWEST_POINTS, MOST_POINTS))
    return np.unique(np.linspace(0, last, count).astype(int)).tolist()


class RunSource:
    """A run folder.

    Args:
        run: the folder's content.

    Raises:
        BadInput: not a run folder, or without the scenario that was flown, or without any state.
    """

    def __init__(self, run: RecordedRun) -> None:
        self.run, folder = run, run.folder
        self.meta = run.data.meta
        self.title = f"{self.meta.scenario}, {folder.resolve().name}"
        if not (folder / CONFIG).is_file():
            raise BadInput(f"{folder}: no {CONFIG}, which says what flew")
        self._columns = [each.columns for each in run.finite_data.vehicles]
        if not all(len(each.t) for each in self._columns):
            raise BadInput(f"{folder}: no states were recorded")
        self.rig = rig_spec(run.scenario)
        self.couplings = couplings_of(run.scenario)
        self._notes = RecordedSceneNotes(run)

    def notes(self, t: float) -> SceneNotes:
        """Notes of a time [s], besides the vehicles' steps."""
        return self._notes.at(t)

    def show(self, scene: FlightScene, stage: Stage, t: float) -> None:
        """Show the instant of a time [s]."""
        scene.update(stage, self.steps(t), self._notes.at(t))

    @classmethod
    def of_folder(cls, folder: Path) -> Self:
        """Of a run folder."""
        return cls(RecordedRun(folder))

    @property
    def span(self) -> tuple[float, float]:
        """First and last time [s]."""
        return (
            min(float(each.t[0]) for each in self._columns),
            max(float(each.t[-1]) for each in self._columns),
        )

    def steps(self, t: float) -> Steps:
        """One step of every vehicle at the last instant up to a time [s]; the first where it is earlier."""
        return [
            each.step(max(0, int(np.searchsorted(each.t, t, side="right")) - 1))
            for each in self._columns
        ]

    @cached_property
    def paths(self) -> tuple[list[Array], list[Array]]:
        """Ways (n, 3) of all vehicles and of their references [m], some points a second."""
        stride = [max(1, len(each.t) // MAX_POINTS) for each in self._columns]
        pairs = list(zip(self._columns, stride, strict=True))
        return (
            [each.x[::n, 0, P] for each, n in pairs],
            [each.reference[::n, REF_P] for each, n in pairs],
        )
