# SPDX-License-Identifier: BSD-3-Clause
"""States, references and commands: named views on the flat arrays that the loop, the engines and the recorder share.

One row per body: p_WB_W (3) [m], q_WB (4) xyzw, v_WB_W (3) [m/s], w_WB_W (3) [rad/s, world axes]. A stack of rows is
(B, bodies, 13) with the batch first.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from iap_description.arrays import Array, Booleans
from iap_description.errors import BadInput

STATE_SIZE = 13
P, Q, V, W = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)

# A reference row: pose, twist, acceleration, then one heading per aircraft.
REF_P, REF_Q, REF_V, REF_W = slice(0, 3), slice(3, 7), slice(7, 10), slice(10, 13)
REF_A, REF_ALPHA, REF_FIXED = slice(13, 16), slice(16, 19), 19


def resting_state(p_WB_W: Array, q_WB: Array) -> Array:
    """State rows (..., 13) of bodies at rest at positions (..., 3) and attitudes (..., 4)."""
    x = np.zeros((*np.shape(p_WB_W)[:-1], STATE_SIZE))
    x[..., P], x[..., Q] = p_WB_W, q_WB
    return x


class Level(IntEnum):
    """The tracked part of a reference; the values are those of iap_msgs/PlatformReference."""

    POSE = 0
    VELOCITY = 1  # pose errors are ignored
    ACCELERATION = 2  # pose and velocity errors are ignored
    WRENCH = 3  # the platform's active wrench is given


class Mode(IntEnum):
    """The kind of a command; the values are those of iap_msgs/PlatformCommand."""

    WRENCH = 0
    ATTITUDE_THRUST = 1
    RATE_THRUST = 2
    RPM = 3
    VELOCITY = 4  # of a plant identified from logs; the message has no constant of its own


@dataclass
class Command:
    """The command to one platform of N aircraft, in one world or in all worlds of a batch.

    Every array may have one more axis in front, of length B, with a command for each world.

    Attributes:
        mode: which of the fields below counts.
        wrench_P: (6,) active wrench on the platform, about the origin of P, in P [N, N m]; in the mode VELOCITY the
            platform's twist along the axes of its heading [m/s, rad/s].
        thrust: (N,) collective thrust [N].
        q_WB: (N, 4) attitude, xyzw.
        w_WB_B: (N, 3) body rate [rad/s, body axes]; feed-forward in the attitude mode.
        rpm: (N, 4) rotor speeds [rpm].
        tilt: (N, 4) angles of rotors that tilt, each about its arm [rad]; they count in every mode.
    """

    mode: Mode
    wrench_P: Array
    thrust: Array
    q_WB: Array
    w_WB_B: Array
    rpm: Array
    tilt: Array

    @classmethod
    def zeros(cls, count: int, mode: Mode = Mode.ATTITUDE_THRUST) -> "Command":
        """An empty command for `count` aircraft."""
        q_WB = np.zeros((count, 4))
        q_WB[:, 3] = 1.0
        rotors = np.zeros((count, 4)), np.zeros((count, 4))
        return cls(mode, np.zeros(6), np.zeros(count), q_WB, np.zeros((count, 3)), *rotors)

    def check(self, count: int, batch: int) -> None:
        """Compare the arrays' shapes with those of `count` aircraft in `batch` worlds.

        Raises:
            BadInput: naming the array that has another shape.
        """
        expected = ((6,), (count,), (count, 4), (count, 3), (count, 4), (count, 4))
        shapes = tuple([np.shape(array) for array in self.arrays])
        if shapes == expected:
            return
        for name, shape, expected_shape in zip(_ARRAYS, shapes, expected, strict=True):
            if shape not in (expected_shape, (batch, *expected_shape)):
                raise BadInput(
                    f"command: '{name}' has shape {shape}; {expected_shape} is expected, or"
                    f" {(batch, *expected_shape)} with one command for each world"
                )

    def finite_worlds(self, batch: int) -> Booleans:
        """(batch,) whether every field of each world's command is a number."""
        is_finite = np.ones(batch, bool)
        for array, dimensions in zip(self.arrays, (1, 1, 2, 2, 2, 2), strict=True):
            is_finite &= np.isfinite(array).all(axis=tuple(range(-dimensions, 0)))
        return is_finite

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All fields but the mode, in their order."""
        return (self.wrench_P, self.thrust, self.q_WB, self.w_WB_B, self.rpm, self.tilt)


class CommandRows(NamedTuple):
    """Numbers of an aircraft's part of a `Command`, as rows of a block of worlds."""

    thrust: int = 1
    q_WB: int = 4
    w_WB_B: int = 3
    rpm: int = 4
    tilt: int = 4


_ARRAYS = ("wrench_P", "thrust", "q_WB", "w_WB_B", "rpm", "tilt")
