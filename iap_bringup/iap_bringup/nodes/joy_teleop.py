# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform by joystick: sensor_msgs/Joy and the platform's state in, its reference out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import sys
import time
from functools import partial
from typing import Any

from rclpy.qos import qos_profile_sensor_data

from iap_bringup.nodes.teleop_base import TeleopNode
from iap_bringup.teleop.mappings import JoystickMapping, load_mapping
from iap_bringup.teleop.stick_reference import RELEASED, Demand, joystick_demand
from iap_io.ros.process import program
from iap_io.wire.cdr import decoded

JOY = "sensor_msgs/msg/Joy"


class JoyTeleop(TeleopNode):
    """Holds the pose unless the dead man's button is held and the joystick still sends."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("joy_teleop", namespace)
        what = "Mapping: gamepad, or the path of a YAML file like it."
        self._mapping = load_mapping(JoystickMapping, self.parameter("mapping", "gamepad", what))
        self._demand, self._received = RELEASED, 0.0
        read = partial(decoded, msgtype=JOY)
        self.inputs.listen(JOY, "joy", read, self._on_joy, qos_profile_sensor_data)
        self.fly(self._mapping.limits, self._present_demand)

    def _on_joy(self, joy: Any) -> None:  # noqa: ANN401 - a sensor_msgs/Joy that rosbags has made
        self._received, self._demand = time.monotonic(), RELEASED
        self._demand = joystick_demand(joy.axes, joy.buttons, self._mapping)

    def _present_demand(self) -> Demand:
        is_alive = time.monotonic() - self._received < self._mapping.timeout
        return self._demand if is_alive else RELEASED


main = program("joy_teleop", JoyTeleop)

if __name__ == "__main__":
    sys.exit(main())
