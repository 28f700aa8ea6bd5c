# SPDX-License-Identifier: BSD-3-Clause
"""The state of everything that sensors of a rig may see, at an instant."""

from collections.abc import Sequence
from typing import NamedTuple

from iap_description.arrays import Array
from iap_description.vehicles.arm_links import ChainState


class RigState(NamedTuple):
    """Vehicles and the world at an instant.

    Attributes:
        rows: (bodies, 13) states of the bodies of all vehicles.
        objects: (objects, 13) states of the world's objects; any where no sensor depends on them.
        tilts: (aircraft, 4) of the rotors of all vehicles [rad]; None: upright.
        joints: of each arm, in the order of the vehicles.
    """

    rows: Array
    objects: Array
    tilts: Array | None = None
    joints: Sequence[ChainState] = ()
