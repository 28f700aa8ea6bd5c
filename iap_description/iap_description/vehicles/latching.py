# SPDX-License-Identifier: BSD-3-Clause
"""Commands to a latch between modules, and its states; numbers are those of iap_msgs/ModuleJoints."""

from enum import Enum, IntEnum


class LatchCommand(Enum):
    """Order to a latch."""

    CATCH = "catch"  # joins, and yields to more than the magnet's force
    LOCK = "lock"  # is rigid from now on
    RELEASE = "release"


class Hold(IntEnum):
    """A way in which a latch holds."""

    OPEN = 0
    CAUGHT = 1  # with the magnet's force
    LOCKED = 2  # rigidly
