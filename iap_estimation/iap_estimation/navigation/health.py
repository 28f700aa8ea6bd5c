# SPDX-License-Identifier: BSD-3-Clause
"""Health of an estimator: what its aircraft see, and how sure it is of where they are."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from iap_description.signals import EstimateHealth
from iap_estimation.navigation.vision_log import FEWEST_TRACKS, VisionLog
from iap_estimation.virpo.messages import CENTRE, Estimate, Measurement, Ranges, Tracks
from iap_estimation.virpo.window.estimator import Estimator

LOOK_EVERY = 0.2  # between two looks at the covariance [s]
WITHOUT_RANGES = "vio"  # the method that does not use them


class Worst(NamedTuple):
    """The worst of a flight's health, by the same names."""

    tracks: int = 1 << 30
    blind: float = 0.0
    deviation: float = 0.0
    age: float = 0.0

    def keys(self) -> dict[str, float]:
        """As metrics.json has it."""
        return {
            "tracks_min": self.tracks,
            "blind_max_s": self.blind,
            "deviation_max_m": self.deviation,
            "age_max_s": self.age,
        }

    def with_one(self, health: EstimateHealth) -> "Worst":
        """The worst of this and one more."""
        return Worst(
            min(self.tracks, health.tracks),
            max(self.blind, health.blind),
            float(np.fmax(self.deviation, health.deviation)),
            max(self.age, health.age),
        )


class HealthWatch:
    """Watches the measurements and estimates of one vehicle.

    Args:
        method: of the estimator.
        count: of the aircraft.

    Attributes:
        worst: the worst health so far.
        vision: when aircraft were blind.
    """

    def __init__(self, method: str, count: int) -> None:
        self._has_ranges = method != WITHOUT_RANGES
        self._tracks = [0] * count
        self._seeing = 0.0  # when something was seen last [s]
        self._deviation, self._looked = np.nan, -np.inf
        self.worst, self.vision = Worst(), VisionLog(count)

    def see(self, owner: int, measured: Measurement) -> None:
        """Note what an aircraft, or `CENTRE`, has measured."""
        self.vision.take(owner, measured)
        if isinstance(measured, Tracks) and owner != CENTRE:
            self._tracks[owner] = len(measured.ids)
            if len(measured.ids) < FEWEST_TRACKS:
                return
        elif not (isinstance(measured, Ranges) and self._has_ranges and len(measured.ranges)):
            return
        self._seeing = max(self._seeing, measured.t)

    def look(
        self,
        t: float,
        estimators: Iterable[Estimator],
        estimates: Callable[[], Iterable[Estimate]],
    ) -> EstimateHealth:
        """The health at a time [s].

        Args:
            t: the time [s].
            estimators: behind the estimates.
            estimates: gives the newest of every aircraft that has any, with covariance.
        """
        known = list(estimates()) if t - self._looked >= LOOK_EVERY else []
        if known:
            self._looked = t
            self._deviation = max(_deviation(each.covariance) for each in known)
        newest = [each.t for each in estimators if each.is_running]
        age = t - min(newest) if newest else t
        faults = sum(len(each.faults) for each in estimators)
        health = EstimateHealth(min(self._tracks), t - self._seeing, self._deviation, age, faults)
        self.worst = self.worst.with_one(health)
        return health


def _deviation(covariance: np.ndarray) -> float:
    """Standard deviation of a place along its least known axis [m]."""
    return float(np.sqrt(np.linalg.eigvalsh(covariance[:3, :3])[-1]))
