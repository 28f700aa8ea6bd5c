# SPDX-License-Identifier: BSD-3-Clause
"""Curves, events and images of a recorded run, beside the scene."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iap_bringup.pictures.grasp import grasp_of
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.events import Event, Happenings, events_until
from iap_description.arrays import Array
from iap_description.sensors.readings import ImageReading
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_io.runs.run_folder import CONFIG
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors

MM = 1e3
AXES = ("x", "y", "z")
ANGLES = ("roll", "pitch", "yaw")


@dataclass(frozen=True, eq=False)
class Curves:
    """Some curves over one time axis.

    Attributes:
        title: with the unit.
        labels: of each curve.
        t: (K,) [s].
        values: (K, n).
    """

    title: str
    labels: tuple[str, ...]
    t: Array
    values: Array


def curves_of(run: RecordedRun) -> Iterator[Curves]:
    """Errors, thrusts and wrenches of all vehicles of a run."""
    for end, flight in run.flights.items():
        name = end.strip("_").replace("_", " ")
        whose = f", {name}" if name else ""
        if flight.is_followed:
            error = flight.error
            yield Curves(f"position error, mm{whose}", AXES, error.t, MM * error.position)
            yield Curves(f"attitude error, deg{whose}", ANGLES, error.t, error.attitude)
        aircraft = tuple(str(i + 1) for i in range(flight.thrust.shape[1]))
        yield Curves(f"thrust of the aircraft, N{whose}", aircraft, flight.t, flight.thrust)
        if flight.contact is not None and flight.contact.first is not None:
            contact = flight.contact
            yield Curves(f"force of contact, N{whose}", AXES, contact.t, contact.filtered[:, :3])


def events_of(run: RecordedRun) -> list[Event]:
    """Events of a run and its end, in their order."""
    meta = run.data.meta
    last = max(float(each.columns.t[-1]) for each in run.data.vehicles)
    contacts = {
        end.strip("_") or meta.vehicles[0].name: each.contact.first
        for end, each in run.touching.items()
        if each.contact is not None and each.contact.first is not None
    }
    is_known = (run.folder / CONFIG).exists()
    grasp = grasp_of(run.scenario, run.finite_data) if is_known else None
    happened = Happenings(last, contacts, grasp, run.metrics)
    return [*events_until(meta, happened), Event(last, run.outcome)]


class RecordedImages:
    """Images of a run's cameras by time.

    Args:
        folder: of the run.
        cameras: that were recorded.
    """

    def __init__(self, folder: Path, cameras: Sequence[CameraSensorInfo]) -> None:
        self._bag = folder / BAG
        self.cameras = {each.topic.strip("/"): each for each in cameras}

    def at(self, name: str, t: float) -> ImageReading | None:
        """The last image of a camera up to a time [s]; None before the first."""
        camera = self.cameras[name]
        stop = round(1e9 * t) + 1
        start = max(0, stop - round(2e9 / camera.rate))
        newest = None
        for reading in read_sensors(self._bag, [camera], start=start, stop=stop):
            if isinstance(reading, ImageReading):
                newest = reading
        return newest


def as_picture(reading: ImageReading) -> Array:
    """(h, w, 3) a reading as a picture: depth from near to far, labels as they are."""
    pixels = np.asarray(reading.pixels)
    if pixels.dtype != np.uint8:
        values = np.nan_to_num(pixels.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
        most = float(values.max()) or 1.0
        pixels = (255.0 * values / most).astype(np.uint8)
    return pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
