# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform by joystick: sensor_msgs/Joy in, iap_msgs/PlatformReference out."""

import sys
import time

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Joy

from iap_bringup.nodes.hand_flight import HandFlight
from iap_bringup.teleop import RELEASED, Demand, JoystickMapping, joystick_demand, load_mapping
from iap_description.errors import BadInput


class JoyTeleop(Node):
    """Holds the pose unless the dead man's button of a joystick that still speaks is held."""

    def __init__(self) -> None:
        super().__init__("joy_teleop")
        what = "Joystick mapping: a name in data/teleop, or the path of a YAML file."
        read_only = ParameterDescriptor(description=what, read_only=True)
        self._mapping = load_mapping(
            JoystickMapping, self.declare_parameter("mapping", "gamepad", read_only).value
        )
        self._demand, self._heard = RELEASED, 0.0
        self.create_subscription(Joy, "joy", self._on_joy, qos_profile_sensor_data)
        self._flight = HandFlight(self, self._mapping.limits, self._present_demand)

    def _on_joy(self, joy: Joy) -> None:
        try:
            self._demand = joystick_demand(joy.axes, joy.buttons, self._mapping)
        except BadInput as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            self._demand = RELEASED
        self._heard = time.monotonic()

    def _present_demand(self) -> Demand:
        is_heard = time.monotonic() - self._heard < self._mapping.timeout
        return self._demand if is_heard else RELEASED


def main() -> int:
    """Run the node; 2 when the mapping is wrong."""
    rclpy.init()
    try:
        rclpy.spin(JoyTeleop())
    except BadInput as error:
        sys.stderr.write(f"joy_teleop: {error}\n")
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        rclpy.try_shutdown()
    return 0
