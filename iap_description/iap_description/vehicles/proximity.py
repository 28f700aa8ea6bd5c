# SPDX-License-Identifier: BSD-3-Clause
"""The air between modules that fly close to each other."""

from iap_description.config.record import Record
from iap_description.config.values import Length, NonNegative


class Proximity(Record):
    """Forces on two modules that are near each other, largest at gap `length`; see `iap_physics.modules.proximity`."""

    push: NonNegative  # apart, along the line between their CoMs [N]
    sink: NonNegative  # down, on both [N]
    length: Length  # [m]

    @property
    def acts(self) -> bool:
        """True if there are such forces."""
        return self.push > 0.0 or self.sink > 0.0
