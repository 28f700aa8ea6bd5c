# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft in a window of its own that looks at its neighbours' odometry: method ``virpo`` (virpo III)."""

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Inertial, Tilt
from iap_estimation.virpo.methods.vio import Apart
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import First


class Exchanging(Apart):
    """Every aircraft in a window of its own, with its neighbours' odometry as measurements: method ``virpo``.

    Args:
        fleet: the aircraft.
        spec: see `VirpoSpec`; where sharing is ``self``, neighbours show what ranges alone give them.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec, first: First, begins: Start | None) -> None:
        super().__init__("virpo", fleet, spec, first, begins)

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`; what it shows then goes to all others."""
        is_new = super().imu(aircraft, sample)
        shown = self.crafts[aircraft].due(sample.t)
        if shown is not None:
            for a, other in enumerate(self.crafts):
                if a != aircraft:
                    other.neighbour(shown)
        return is_new

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        super().tilt(told)
        for craft in self.crafts:
            craft.tilt(told)
