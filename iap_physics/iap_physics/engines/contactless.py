# SPDX-License-Identifier: BSD-3-Clause
"""Common part of engines without contact: nothing touches, and no joints are added in flight."""

import numpy as np

from iap_description.arrays import Array
from iap_physics.engines.engine import Contact
from iap_physics.engines.jointless import JointlessEngine


class ContactlessEngine(JointlessEngine):
    """An engine of vehicles that pass through everything."""

    def contacts(self) -> list[Contact]:
        """No contact."""
        return []

    def contact_wrench(self, row: int) -> Array:
        """Zero."""
        return np.zeros(6)

    def ray_cast(self, starts_W: Array, ends_W: Array, *, world_only: bool = False) -> Array:
        """Refuse: there are no shapes."""
        self._refuse("has no shapes to cast rays at")
