# SPDX-License-Identifier: BSD-3-Clause
"""The front end over a data set: images become tracks, once for all methods."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.errors import BadInput
from iap_estimation.frontend.spec import FrontendSpec
from iap_estimation.frontend.tracker import StereoTracker
from iap_estimation.navigation.data import GAP, AircraftData, Dataset, Images, Seen
from iap_estimation.navigation.streams import while_sighted
from iap_estimation.virpo.messages import Inertial, Tracks

Array = NDArray[np.float64]
AT_REST = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass
class FrontendStats:
    """What the front end did.

    Attributes:
        seconds: wall time of every pair.
        tracks: in every pair.
        stereo: of these, seen by both cameras.
    """

    seconds: list[float] = field(default_factory=list)
    tracks: list[int] = field(default_factory=list)
    stereo: list[int] = field(default_factory=list)


def tracked(
    dataset: Dataset, spec: FrontendSpec, stats: FrontendStats
) -> Iterator[tuple[int, Seen]]:
    """What the sensors of a data set say, with tracks in place of images.

    Args:
        dataset: whose cameras they are.
        spec: of the front end.
        stats: is filled.

    Raises:
        BadInput: images that do not belong to their cameras.
    """
    eyes = [AircraftFrontend(dataset.source, craft, spec) for craft in dataset.crafts]
    for who, said in while_sighted(dataset.events(), dataset.tally):
        if isinstance(said, Images):
            begin = perf_counter()
            tracks = eyes[who].see(said)
            stats.seconds.append(perf_counter() - begin)
            stats.tracks.append(len(tracks.ids))
            stats.stereo.append(int(tracks.has_right.sum()))
            yield who, tracks
        else:
            if isinstance(said, Inertial):
                eyes[who].turn(said)
            yield who, said


class AircraftFrontend:
    """The tracker of one aircraft, which its gyroscope tells where to look."""

    def __init__(self, source: str, craft: AircraftData, spec: FrontendSpec) -> None:
        self._source, self._name, self._calibration = source, craft.name, craft.calibration
        self._tracker = StereoTracker(craft.calibration, spec)
        self._turn, self._t_turn = AT_REST, -np.inf
        self._t = -np.inf

    def turn(self, sample: Inertial) -> None:
        """Note how the body turns."""
        if np.isfinite(self._t_turn):
            phi = sample.w_B * (sample.t - self._t_turn)
            self._turn = so3.multiply(self._turn, so3.quaternion_exp(phi))
        self._t_turn = sample.t

    def see(self, images: Images) -> Tracks:
        """Follow what is seen."""
        if images.t - self._t >= GAP:
            self._tracker.reset()
        turn = self._calibration.camera_turn(so3.normalized(self._turn))
        try:
            tracks = self._tracker.track(images.t, images.left, images.right, turn)
        except BadInput as error:
            raise BadInput(f"{self._source}: {self._name}: {error}") from error
        self._t, self._turn = images.t, AT_REST
        return tracks

    def draw(self) -> NDArray[np.uint8]:
        """The last left image (h, w, 3), rgb, with its tracks; see `StereoTracker.draw`."""
        return self._tracker.draw()
