# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own that looks at its neighbours' odometry: method ``virpo`` (virpo III)."""

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Inertial, Tilt
from iap_estimation.virpo.methods.vio import VioLocalizer
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState


class VirpoLocalizer(VioLocalizer):
    """Every aircraft in a window of its own, with its neighbours' odometry as measurements: method ``virpo``.

    Args:
        fleet: the aircraft.
        spec: see `VirpoSpec`; where sharing is ``self``, neighbours show what ranges alone give them.
        first: gives the initial state of an aircraft at its first images.
        deviations: how far off that may be.
    """

    def __init__(
        self, fleet: Fleet, spec: VirpoSpec, first: InitialState, deviations: Start | None
    ) -> None:
        super().__init__("virpo", fleet, spec, first, deviations)

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`; what it shows then goes to all others."""
        is_new = super().imu(aircraft, sample)
        shared = self.aircraft[aircraft].due(sample.t)
        if shared is not None:
            for a, other in enumerate(self.aircraft):
                if a != aircraft:
                    other.neighbour(shared)
        return is_new

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        super().tilt(measured)
        for single in self.aircraft:
            single.tilt(measured)
