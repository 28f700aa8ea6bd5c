# SPDX-License-Identifier: BSD-3-Clause
"""All aircraft and the central body in one window: method ``joint``."""

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import Estimator, Fault, InitialState


class JointLocalizer:
    """All aircraft and the central body in one window: method ``joint``.

    Args:
        fleet: the aircraft.
        spec: see `VirpoSpec`.
        first: gives the initial state of an aircraft at its first images.
        deviations: how far off that may be.

    Attributes:
        estimators: the one window.
    """

    def __init__(
        self, fleet: Fleet, spec: VirpoSpec, first: InitialState, deviations: Start | None
    ) -> None:
        self._estimator = Estimator(fleet, spec, first, deviations=deviations, joined=True)
        self.estimators = [self._estimator]

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self._estimator.imu(aircraft, sample)

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self._estimator.tracks(aircraft, tracks)

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        self._estimator.ranges(aircraft, measured)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._estimator.tilt(measured)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return self._estimator.estimates() if self._estimator.is_running else []

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        return self._estimator.propagated(aircraft) if self._estimator.is_running else None

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return self._estimator.centre() if self._estimator.is_running else None

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return self._estimator.faults

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return self._estimator.left_out
