# SPDX-License-Identifier: BSD-3-Clause
"""A data set as estimators take it: aircraft and sensors, measurements, ground truth.

The body B of an aircraft is its inertial unit, B0 the central body, W `map` or the world of the truth.
Times are seconds since the data set's `start_ns`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from iap_description.earth import GRAVITY
from iap_estimation.evaluation.truth import Truth
from iap_estimation.navigation.fleet_data import AircraftData, CentreData, fleet_of
from iap_estimation.navigation.measurements import Event, Tally
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import CENTRE_NAME
from iap_estimation.virpo.spec import VirpoSpec


class FrontendChoice(NamedTuple):
    """A preset of the front end, and why it suits images."""

    preset: str
    reason: str


FROM_RENDERER = FrontendChoice("default", "rendered images without noise, blur or distortion")
FROM_CAMERAS = FrontendChoice("euroc", "images of cameras, which have noise, blur or distortion")


@dataclass(frozen=True, eq=False)
class SensorDataset:
    """A recording of one aircraft, or of all aircraft of one platform.

    Attributes:
        source: for the user.
        name: of folders.
        aircraft: the aircraft.
        start_ns: stamp at time 0 [ns].
        events: what the sensors say, in order of time; each call reads anew, and raises BadInput on what cannot be.
        tally: of the last reading.
        notes: sentences for the user.
        frontend: the front end for its images.
        centre: None where nothing joins them.
        has_ranges: whether there are UWB tags.
        gravity: [m/s^2].
        anchors: names by their numbers, where they have any.
        end: about when its last sample comes [s].
        parts: one data set for each aircraft, where these have clocks of their own.
        clock_doubt: why its images may be late by far, and what says so; None where they are not.
        is_foreign: whether somebody else recorded it, and units, clocks and signs are what they may be.
    """

    source: str
    name: str
    aircraft: tuple[AircraftData, ...]
    start_ns: int
    events: Callable[[], Iterator[Event]]
    tally: Tally
    notes: tuple[str, ...]
    frontend: FrontendChoice
    centre: CentreData | None = None
    has_ranges: bool = False
    gravity: float = GRAVITY
    anchors: tuple[str, ...] = ()
    is_foreign: bool = True
    clock_doubt: str | None = None
    end: float | None = None
    parts: tuple["SensorDataset", ...] = ()

    def fleet(self, spec: VirpoSpec) -> Fleet:
        """The aircraft as an estimator with these settings knows them."""
        return fleet_of(self.aircraft, self.centre, spec, self.gravity)

    def anchor_name(self, number: int) -> str:
        """Name of an anchor; its number where it has none."""
        return self.anchors[number] if self.anchors else str(number)

    @property
    def has_cameras(self) -> bool:
        """True if all aircraft see."""
        return all(one.calibration is not None for one in self.aircraft)

    @property
    def bodies(self) -> dict[str, Truth | None]:
        """All bodies and what is true of them."""
        truths = {one.name: one.truth for one in self.aircraft}
        if self.centre is not None:
            truths[CENTRE_NAME] = self.centre.truth
        return truths
