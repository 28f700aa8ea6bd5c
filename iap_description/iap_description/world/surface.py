# SPDX-License-Identifier: BSD-3-Clause
"""What a body's surface does to a contact."""

from typing import Self

from pydantic import model_validator

from iap_description.config import NonNegative, Positive, Record


class Surface(Record):
    """How a contact with this body behaves.

    Of two bodies in contact the friction and restitution that count are the geometric means, so
    that two equal surfaces have what is written here. A rigid surface has no stiffness; a soft one
    gives way at each contact point like a spring with a damper beside it, and two soft ones in
    contact like two springs in series and with the sum of their damping. Restitution comes on top
    of what a spring gives back.
    """

    friction: NonNegative  # lateral friction coefficient
    restitution: NonNegative  # 0 = no rebound, 1 = full
    stiffness: Positive | None = None  # of one contact point [N/m]; None: rigid
    damping: NonNegative | None = None  # of one contact point [N s/m]

    @model_validator(mode="after")
    def _is_rigid_or_soft(self) -> Self:
        if (self.stiffness is None) != (self.damping is None):
            raise ValueError("keys 'stiffness' and 'damping' come together or not at all")
        return self
