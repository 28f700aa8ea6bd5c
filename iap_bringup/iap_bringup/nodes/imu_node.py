# SPDX-License-Identifier: BSD-3-Clause
"""Makes the messages of real inertial units, magnetometers and attitude estimates from what ideal ones feel."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from iap_bringup.gathering import Gathering, Instant
from iap_bringup.nodes.sensor_node import SensorNode
from iap_bringup.sensing.inertial import InertialUnits
from iap_bringup.sensing.senses import Senses
from iap_description.errors import BadInput
from iap_description.ros_node import EVERY, run
from iap_description.wire import SECOND, Inlet, StateMessage
from iap_description.wire_inertial import InertialMessage
from iap_msgs.msg import InertialSamples as InertialSamplesMessage
from iap_msgs.msg import PlatformState
from iap_physics.inertial import InertialSamples
from iap_sensors.readings import Reading


class ImuNode(SensorNode):
    """The inertial units of all vehicles."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("imu_node", namespace)
        pairs = zip(self.scenario.vehicles, Senses(self.scenario).vehicles, strict=True)
        found = [(v.name, each.inertial) for v, each in pairs if each.inertial is not None]
        self.show([meta for _, units in found for meta in units.metas])
        self._vehicles = [_Vehicle(self, name, units) for name, units in found]


class _Vehicle:
    """The units of one vehicle."""

    def __init__(self, node: ImuNode, name: str, units: InertialUnits) -> None:
        self._node, self._units = node, units
        self._physics_hz, self._seed = node.scenario.rates.physics_hz, node.scenario.seed
        self._frames = [unit.place.source.frame for unit in units.units]
        self._gathering, self._stamp = Gathering(2), -1
        self._shown: list[Reading] = []
        self._listen(0, f"/{name}/state", PlatformState, Inlet(StateMessage), _rows)
        inlet = Inlet(InertialMessage)
        self._listen(1, f"/{name}/inertial", InertialSamplesMessage, inlet, self._samples)

    def _listen(
        self, source: int, topic: str, kind: type, inlet: Inlet, part: Callable[[Any], object]
    ) -> None:
        take = partial(self._on_message, source, topic, inlet, part)
        self._node.create_subscription(kind, topic, take, EVERY, raw=True)

    def _samples(self, message: InertialMessage) -> InertialSamples:
        if message.frames != self._frames:
            raise BadInput(
                f"units {', '.join(message.frames)} instead of {', '.join(self._frames)}"
            )
        ticks = np.rint(message.stamps * (self._physics_hz / SECOND)).astype(np.int64)
        return InertialSamples(ticks, message.w_S.copy(), message.f_S.copy())

    def _on_message(
        self, source: int, topic: str, inlet: Inlet, part: Callable[[Any], object], data: bytes
    ) -> None:
        try:
            message = inlet.read(data)
            said = part(message)
        except BadInput as error:
            self._node.heard(f"{topic}: {error}")
            return
        self._node.heard()
        instant = self._gathering.take(source, message.stamp, message.sequence, said)
        if instant is not None:
            self._feel(instant)

    def _feel(self, instant: Instant) -> None:
        x, samples = instant.parts
        if instant.stamp == self._stamp:
            self._node.repeat(self._shown)
            return
        if instant.stamp < self._stamp or self._stamp < 0:
            self._units.reset(self._seed, x)
        if instant.stamp < self._stamp:
            self._node.forget()
        self._stamp = self._node.stamp = instant.stamp
        self._shown = self._units.look(instant.k, instant.stamp / SECOND, x, samples)
        self._node.publish(self._shown)


def _rows(state: StateMessage) -> np.ndarray:
    return state.rows.copy()


def main() -> int:
    """Run the node."""
    return run("imu_node", lambda: [ImuNode()])


if __name__ == "__main__":
    sys.exit(main())
