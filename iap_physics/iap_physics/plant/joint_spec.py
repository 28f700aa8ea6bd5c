# SPDX-License-Identifier: BSD-3-Clause
"""The joints between a plant's modules, which a coordinator opens and closes."""

from collections.abc import Collection

from iap_description.config.record import Record
from iap_description.config.values import Flag, Hertz, Positive, Vec3
from iap_description.errors import BadInput
from iap_description.vehicles.proximity import Proximity


class PlantJoint(Record):
    """A joint that may be between two modules."""

    leader: str  # vehicle
    follower: str  # vehicle
    way: Vec3  # from the leader's CoM to the follower's, when joined, along the leader's axes [m]
    joined: Flag = False  # from the start
    closes: Flag = False  # it joins where the modules are


class PlantJoints(Record):
    """The joints of a world's modules."""

    rate: Hertz  # at which they are told [Hz]
    latch_force: Positive  # that a latch bears before it is locked [N]
    joints: dict[str, PlantJoint]
    proximity: Proximity | None = None  # the air between modules; None leaves it out

    @property
    def partners(self) -> frozenset[frozenset[str]]:
        """Pairs of vehicles that may touch."""
        return frozenset(frozenset((j.leader, j.follower)) for j in self.joints.values())

    def check(self, vehicles: Collection[str]) -> None:
        """Refuse joints of vehicles that are not there.

        Raises:
            BadInput: naming the joint.
        """
        for name, joint in self.joints.items():
            for each in (joint.leader, joint.follower):
                if each not in vehicles:
                    raise BadInput(
                        f"plant: key 'modules.joints.{name}': there is no vehicle '{each}'"
                    )
