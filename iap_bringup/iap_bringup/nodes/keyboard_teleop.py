# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform from a terminal: keys in, iap_msgs/PlatformReference out."""

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from iap_bringup.nodes.hand_flight import HandFlight
from iap_bringup.teleop import Demand, Keyboard, KeyboardMapping, load_mapping
from iap_description.errors import BadInput

ESCAPE = "\x1b"


class KeyboardTeleop(Node):
    """Holds the pose unless a motion's key is held."""

    def __init__(self) -> None:
        super().__init__("keyboard_teleop")
        what = "Keyboard mapping: a name in data/teleop, or the path of a YAML file."
        read_only = ParameterDescriptor(description=what, read_only=True)
        mapping = self.declare_parameter("mapping", "keyboard", read_only).value
        self.keyboard = Keyboard(load_mapping(KeyboardMapping, mapping))
        self._flight = HandFlight(self, self.keyboard.mapping.limits, self._demand)

    def _demand(self) -> Demand:
        return self.keyboard.demand(time.monotonic())


@contextmanager
def single_keys() -> Iterator[int]:
    """Standard input without echo and line by line editing; as it was, afterwards."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield terminal
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def take_keys(terminal: int, keyboard: Keyboard) -> bool:
    """Hand over the keys pressed since the last call; False when the pilot quits or the terminal is gone."""
    if not select.select([terminal], [], [], 0.0)[0]:
        return True
    keys = os.read(terminal, 64).decode(errors="ignore")
    if keys.startswith(ESCAPE) and len(keys) > 1:  # an arrow or function key
        return True
    return bool(keys) and all(keyboard.press(key, time.monotonic()) for key in keys)


def fly(node: KeyboardTeleop) -> None:
    """Spin until the pilot quits."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    sys.stdout.write(f"Keys (hold them; letting go holds the pose):\n{node.keyboard.help()}\n")
    sys.stdout.flush()
    with single_keys() as terminal:
        while rclpy.ok() and take_keys(terminal, node.keyboard):
            executor.spin_once(timeout_sec=0.02)


def main() -> int:
    """Run the node; 2 when there is no terminal or the mapping is wrong."""
    if not sys.stdin.isatty():
        sys.stderr.write("keyboard_teleop: standard input is no terminal; start it in one, by ros2 run\n")
        return 2
    rclpy.init()
    try:
        fly(KeyboardTeleop())
    except BadInput as error:
        sys.stderr.write(f"keyboard_teleop: {error}\n")
        return 2
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    finally:
        rclpy.try_shutdown()
    return 0
