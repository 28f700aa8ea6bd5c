# SPDX-License-Identifier: BSD-3-Clause
"""Flies a platform from a terminal: keys and the platform's state in, its reference out.

Runs in the vehicle's namespace, which is `iap` unless it is remapped.
"""

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from iap_bringup.nodes.teleop_base import TeleopNode
from iap_bringup.teleop.mappings import KeyboardMapping, load_mapping
from iap_bringup.teleop.stick_reference import Keyboard
from iap_io.ros.node import STEADY
from iap_io.ros.process import EXIT_BAD_INPUT, EXIT_DONE, run

PERIOD = 0.02  # between looks at the keyboard [s]
ESCAPE = "\x1b"


class KeyboardTeleop(TeleopNode):
    """Holds the pose unless the key of a motion is held."""

    def __init__(self, namespace: str = "iap") -> None:
        super().__init__("keyboard_teleop", namespace)
        what = "Mapping: keyboard, or the path of a YAML file like it."
        mapping = load_mapping(KeyboardMapping, self.parameter("mapping", "keyboard", what))
        self._keyboard = Keyboard(mapping)
        self.create_timer(PERIOD, self._look, clock=STEADY)
        self.fly(mapping.limits, lambda: self._keyboard.demand(time.monotonic()))
        sys.stdout.write(
            f"Hold a key to move; letting go holds the pose.\n{self._keyboard.help()}\n"
        )
        sys.stdout.flush()

    def _look(self) -> None:
        keys = waiting_keys(sys.stdin.fileno())
        now = time.monotonic()
        if keys is None or not all(self._keyboard.press(key, now) for key in keys):
            self.exit_code = EXIT_DONE


def waiting_keys(terminal: int) -> str | None:
    """Keys pressed since the last call, without those that are more than a character; None at the end of input."""
    if not select.select([terminal], [], [], 0.0)[0]:
        return ""
    keys = os.read(terminal, 64).decode(errors="ignore")
    if not keys:
        return None
    is_sequence = keys.startswith(ESCAPE) and len(keys) > 1  # an arrow or a function key
    return "" if is_sequence else keys


@contextmanager
def single_keys(terminal: int) -> Iterator[None]:
    """A terminal that hands over every key at once, without echo; as it was, afterwards."""
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def main() -> int:
    """Run the node; refuses where there is no terminal."""
    if not sys.stdin.isatty():
        sys.stderr.write(
            "keyboard_teleop: standard input is no terminal; run it in one with ros2 run\n"
        )
        return EXIT_BAD_INPUT
    with single_keys(sys.stdin.fileno()):
        return run("keyboard_teleop", lambda: [KeyboardTeleop()])


if __name__ == "__main__":
    sys.exit(main())
