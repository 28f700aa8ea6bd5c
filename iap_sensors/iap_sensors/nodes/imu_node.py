# SPDX-License-Identifier: BSD-3-Clause
"""Makes readings of real inertial units, magnetometers and attitude estimates out of ideal samples."""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from iap_description.errors import BadInput
from iap_description.sensors.readings import InertialSamples, Reading
from iap_description.states import STATE_SIZE, Q
from iap_io.ros.conversions import BASE_LINK, frame
from iap_io.ros.node import EVERY
from iap_io.ros.process import program
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.sample_views import InertialMessage
from iap_io.wire.stamp_guard import StampGuard
from iap_io.wire.stamps import SECOND
from iap_sensors.mounted.inertial_units import InertialUnits
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_sensors.nodes.sensor_base import SensorNode


class ImuNode(SensorNode):
    """The inertial units of all vehicles."""

    def __init__(self, namespace: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__("imu_node", namespace, parameters)
        pairs = zip(self.rig.vehicles, SensorSuite(self.rig).vehicles, strict=True)
        units_by_name = [(v.name, each.inertial) for v, each in pairs if each.inertial is not None]
        self.advertise(
            [info for _, units in units_by_name for info in units.infos],
            notes=[note for _, units in units_by_name for note in units.notes],
        )
        self._vehicles = [_VehicleUnits(self, units) for _, units in units_by_name]
        for (name, _), vehicle in zip(units_by_name, self._vehicles, strict=True):
            topic = self.absolute(f"{name}/inertial")
            take, frames = partial(self._on_samples, vehicle), (frame(name, BASE_LINK),)
            read, kind = MessageReader(InertialMessage, frames).read, InertialMessage.TYPE
            self.inputs.listen(kind, topic, read, take, EVERY, guard=StampGuard())

    def _on_samples(self, vehicle: "_VehicleUnits", message: InertialMessage) -> None:
        self.check_number(message.stamp, message.sequence)
        vehicle.receive(message)
        self.note_message()

    def values(self) -> dict[str, object]:
        """Number of states that were missed."""
        return {**super().values(), "missed": sum(each.missed for each in self._vehicles)}


class _VehicleUnits:
    """The units of one vehicle.

    Attributes:
        missed: states without a message, so that samples are missing.
    """

    def __init__(self, node: ImuNode, units: InertialUnits) -> None:
        self._node, self._units = node, units
        self._physics_hz, self._seed = node.rig.physics_hz, node.rig.seed
        self._longest = round(2 * SECOND / node.rig.control_hz)  # age of a sample [ns]
        self._frames = [unit.mount.source.frame for unit in units.units]
        self._bodies = [unit.mount.body for unit in units.units]
        self._x = np.zeros((1 + max(self._bodies), STATE_SIZE))  # with attitudes only
        self._stamp, self._k, self.missed = -1, -1, 0
        self._shown: list[Reading] = []

    def receive(self, message: InertialMessage) -> None:
        """Publish the units' readings of ideal samples.

        Raises:
            BadInput: they are of other units, or of another time.
        """
        if message.frames != self._frames:
            raise BadInput(
                f"samples of {', '.join(message.frames)}, not {', '.join(self._frames)}"
            )
        ages = message.stamp - message.stamps
        if ((ages < 0) | (ages > self._longest)).any():
            raise BadInput("stamps: samples of another time than the header's")
        if message.stamp == self._stamp:
            self._node.repeat(self._shown)
            return
        self._x[self._bodies, Q] = message.q_WB
        if message.stamp < self._stamp or self._k < 0:
            self._units.reset(self._seed, self._x)
            self._node.reset_rates()
        else:
            self.missed += message.sequence - self._k - 1
        ticks = np.rint(message.stamps * (self._physics_hz / SECOND)).astype(np.int64)
        samples = InertialSamples(ticks, message.w_S, message.f_S)
        self._stamp, self._k = message.stamp, message.sequence
        self._node.stamp = message.stamp
        sampled = self._units.sample(self._k, self._stamp / SECOND, self._x, samples)
        self._shown = list(self._node.faulty(sampled))
        self._node.publish(self._shown)


main = program("imu_node", ImuNode)

if __name__ == "__main__":
    sys.exit(main())
