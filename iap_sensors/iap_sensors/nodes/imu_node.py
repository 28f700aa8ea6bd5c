# SPDX-License-Identifier: BSD-3-Clause
"""Makes the messages of real inertial units, magnetometers and attitude estimates from what ideal ones feel."""

import sys
from functools import partial

import numpy as np

from iap_description.errors import BadInput
from iap_description.sensors.inertial_samples import InertialSamples
from iap_description.sensors.readings import Reading
from iap_description.states import STATE_SIZE, Q
from iap_io.ros.node import EVERY, run
from iap_io.wire.message_views import SECOND, MessageReader
from iap_io.wire.sample_views import InertialMessage
from iap_msgs.msg import InertialSamples as InertialSamplesMessage
from iap_sensors.mounted.inertial_units import InertialUnits
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_sensors.nodes.sensor_base import SensorNode


class ImuNode(SensorNode):
    """The inertial units of all vehicles."""

    def __init__(self, namespace: str = "") -> None:
        super().__init__("imu_node", namespace)
        pairs = zip(self.scenario.vehicles, SensorSuite(self.scenario).vehicles, strict=True)
        found = [(v.name, each.inertial) for v, each in pairs if each.inertial is not None]
        self.show([meta for _, units in found for meta in units.metas])
        self._vehicles = [_Vehicle(self, units) for _, units in found]
        for (name, _), vehicle in zip(found, self._vehicles, strict=True):
            topic = f"/{name}/inertial"
            take = partial(self._on_samples, topic, vehicle, MessageReader(InertialMessage))
            self.create_subscription(InertialSamplesMessage, topic, take, EVERY, raw=True)

    def _on_samples(
        self, topic: str, vehicle: "_Vehicle", inlet: MessageReader, data: bytes
    ) -> None:
        try:
            vehicle.take(inlet.read(data))
        except BadInput as error:
            self.heard(f"{topic}: {error}")
        else:
            self.heard()

    def values(self) -> dict[str, object]:
        """How many states were missed."""
        return {**super().values(), "missed": sum(each.missed for each in self._vehicles)}


class _Vehicle:
    """The units of one vehicle.

    Attributes:
        missed: states of which nothing came, so that samples are missing.
    """

    def __init__(self, node: ImuNode, units: InertialUnits) -> None:
        self._node, self._units = node, units
        self._physics_hz, self._seed = node.scenario.rates.physics_hz, node.scenario.seed
        self._frames = [unit.place.source.frame for unit in units.units]
        self._bodies = [unit.place.body for unit in units.units]
        self._x = np.zeros((1 + max(self._bodies), STATE_SIZE))  # of which attitudes are known
        self._stamp, self._k, self.missed = -1, -1, 0
        self._shown: list[Reading] = []

    def take(self, message: InertialMessage) -> None:
        """Publish what the units say of these samples.

        Raises:
            BadInput: they are of other units.
        """
        if message.frames != self._frames:
            raise BadInput(
                f"samples of {', '.join(message.frames)}, not {', '.join(self._frames)}"
            )
        if message.stamp == self._stamp:
            self._node.repeat(self._shown)
            return
        self._x[self._bodies, Q] = message.q_WB
        if message.stamp < self._stamp or self._k < 0:
            self._units.reset(self._seed, self._x)
            self._node.forget()
        else:
            self.missed += message.sequence - self._k - 1
        ticks = np.rint(message.stamps * (self._physics_hz / SECOND)).astype(np.int64)
        samples = InertialSamples(ticks, message.w_S, message.f_S)
        self._stamp, self._k = message.stamp, message.sequence
        self._node.stamp = message.stamp
        self._shown = self._units.look(self._k, self._stamp / SECOND, self._x, samples)
        self._node.publish(self._shown)


def main() -> int:
    """Run the node."""
    return run("imu_node", lambda: [ImuNode()])


if __name__ == "__main__":
    sys.exit(main())
