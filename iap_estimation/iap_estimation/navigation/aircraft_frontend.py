# SPDX-License-Identifier: BSD-3-Clause
"""The front end over a data set: images become tracks, once for all methods."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.frontend.tracker import StereoTracker
from iap_estimation.navigation.fleet_data import AircraftData
from iap_estimation.navigation.measurements import SENSOR_GAP, Event, Images
from iap_estimation.virpo.messages import CENTRE, ImuSample, Measurement, Tracks


@dataclass
class FrontendStats:
    """Counts and times of the front end.

    Attributes:
        seconds: wall time of every pair.
        tracks: in every pair.
        stereo: of these, seen by both cameras.
    """

    seconds: list[float] = field(default_factory=list)
    tracks: list[int] = field(default_factory=list)
    stereo: list[int] = field(default_factory=list)


class FleetFrontend:
    """The front end of every aircraft of a vehicle: measurements in, tracks in place of images out."""

    def __init__(
        self,
        source: str,
        aircraft: Sequence[AircraftData],
        spec: FrontendSpec,
        stats: FrontendStats | None = None,
    ) -> None:
        self._each = [
            AircraftFrontend(source, one, spec) if one.calibration is not None else None
            for one in aircraft
        ]
        self._stats = FrontendStats() if stats is None else stats

    def __call__(self, event: Event) -> tuple[int, Measurement]:
        """The measurement as estimators take it.

        Raises:
            BadInput: images that do not belong to their cameras.
        """
        owner, measured = event
        frontend = self._each[owner] if owner != CENTRE else None
        if frontend is not None and isinstance(measured, ImuSample):
            frontend.turn(measured)
        if not isinstance(measured, Images):
            return owner, measured
        assert frontend is not None  # noqa: S101 - who has images has cameras
        begin = perf_counter()
        tracks = frontend.see(measured)
        self._stats.seconds.append(perf_counter() - begin)
        self._stats.tracks.append(len(tracks.ids))
        self._stats.stereo.append(int(tracks.has_right.sum()))
        return owner, tracks


class AircraftFrontend:
    """The tracker of one aircraft, guided by its gyroscope."""

    def __init__(self, source: str, aircraft: AircraftData, spec: FrontendSpec) -> None:
        self._source, self._name, self._calibration = source, aircraft.name, aircraft.cameras
        self._tracker = StereoTracker(aircraft.cameras, spec)
        self._turn, self._t_turn = so3.IDENTITY, -np.inf
        self._t = -np.inf

    def turn(self, sample: ImuSample) -> None:
        """Take an inertial sample, for the body's rotation."""
        if np.isfinite(self._t_turn):
            phi = sample.w_B * (sample.t - self._t_turn)
            self._turn = so3.multiply(self._turn, so3.quaternion_exp(phi))
        self._t_turn = sample.t

    def see(self, images: Images) -> Tracks:
        """Track the features of a stereo pair."""
        if images.t - self._t >= SENSOR_GAP:
            self._tracker.reset()
        turn = self._calibration.camera_turn(so3.normalized(self._turn))
        try:
            tracks = self._tracker.track(images.t, images.left, images.right, turn)
        except BadInput as error:
            raise BadInput(f"{self._source}: {self._name}: {error}") from error
        self._t, self._turn = images.t, so3.IDENTITY
        return tracks

    def draw(self) -> NDArray[np.uint8]:
        """The last left image (h, w, 3), rgb, with its tracks; see `StereoTracker.draw`."""
        return self._tracker.draw()
