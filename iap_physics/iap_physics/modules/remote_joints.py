# SPDX-License-Identifier: BSD-3-Clause
"""The joints of a session's modules, which a coordinator in another process opens and closes."""

from collections.abc import Mapping
from typing import NamedTuple

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.vehicles.latching import Hold
from iap_physics.modules.engine_joints import EngineJoints, held_together
from iap_physics.plant.joint_spec import PlantJoint, PlantJoints
from iap_physics.plant.plant import Plant
from iap_physics.plant.plant_spec import PlantSpec


class ModulePair(NamedTuple):
    """Two modules a and b, as `EngineJoints` takes them."""

    modules: tuple[int, int]
    d_ab_S: tuple[float, float, float]


class RemoteJoints:
    """Joints between modules, opened and closed by a coordinator in another process.

    Args:
        spec: the plant's.
        modules: the joints that there may be.
        plant: at its start, where joints are closed that are joined from the start.

    Attributes:
        newest: number of the state that the coordinator has answered last; -1 before.
        engine_joints: the joints in the engine.

    Raises:
        BadInput: a joint of vehicles that are not there.
    """

    def __init__(self, spec: PlantSpec, modules: PlantJoints, plant: Plant) -> None:
        names = [vehicle.name for vehicle in spec.vehicles]
        modules.check(names)
        pairs = {name: _pair(joint, names) for name, joint in modules.joints.items()}
        self._pairs = pairs
        closing = {name for name, joint in modules.joints.items() if joint.closes}
        self.engine_joints = EngineJoints(plant, pairs, closing, modules.latch_force)
        self._every = max(1, round(spec.rates.control_hz / modules.rate))
        self._holds: dict[str, Hold] = {}
        self.newest = -1
        for name in [each for each, joint in modules.joints.items() if joint.joined]:
            self.engine_joints.hold(name)
            self._holds[name] = Hold.LOCKED

    def offer(self, number: int, k: int, holds: Mapping[str, Hold]) -> None:
        """Take what shall hold from state `number` on, at the time of state k.

        Raises:
            BadInput: it is later than the present state, or of other joints.
        """
        if number > k:
            raise BadInput("header.stamp: later than the present state")
        if set(holds) != self.engine_joints.names:
            known = ", ".join(sorted(self.engine_joints.names))
            raise BadInput(f"names: {', '.join(holds) or 'none'}; the joints are {known}")
        if number > self.newest:
            self.newest, self._holds = number, dict(holds)

    def structure_of(self, vehicle: int) -> set[int]:
        """Numbers of the vehicles that hold together with one, itself among them."""
        holds = [name for name, hold in self._holds.items() if hold != Hold.OPEN]
        return held_together(vehicle, [self._pairs[name].modules for name in holds])

    def wrenches_S(self) -> dict[str, Array]:
        """Wrenches that joints bear while they hold, see `EngineJoints.wrenches_S`."""
        return self.engine_joints.wrenches_S()

    def clear(self) -> None:
        """Open all of them, before the plant starts anew."""
        self.engine_joints.clear()

    def advance(self, k: int) -> None:
        """Let joints follow at state k, and modules touch again that have come apart."""
        if k % self._every == 0:
            self.engine_joints.part_touching()
        self.engine_joints.follow(self._holds)


def _pair(joint: PlantJoint, names: list[str]) -> ModulePair:
    return ModulePair((names.index(joint.leader), names.index(joint.follower)), joint.way)
