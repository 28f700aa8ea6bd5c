# SPDX-License-Identifier: BSD-3-Clause
"""The reference that goes with a state: whole references and the simple ways in, as they come in messages."""

from typing import Literal

import numpy as np

from iap_control.responders.inputs import Kind, SimpleInputs, at_rest, world_rates
from iap_control.responders.pose_stream import InputLimits
from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible, is_unit
from iap_description.errors import BadInput
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_Q, Level, Q

Source = Literal["stamped", "latest"]
_ODD_NORM = 0.01  # float32 and printed quaternions stay well below
SOURCES: tuple[Source, ...] = ("stamped", "latest")


class ReferenceInput:
    """The reference that follows from the messages that have come.

    Args:
        count: number of aircraft.
        limits: of simple inputs and references without a stamp of their own.
        source: ``stamped`` is the reference of the state's stamp only, ``latest`` the newest. Once a
            simple input came, it is followed until the next reference.
        needs_headings: whether a reference must give the aircraft's headings.

    Attributes:
        follows_inputs: whether a simple input is followed.
    """

    def __init__(
        self, count: int, limits: InputLimits, source: Source, *, needs_headings: bool
    ) -> None:
        self.count, self.follows_inputs = count, False
        self._needs_headings = needs_headings
        self._source, self._limits = source, limits
        self._given = Reference(np.zeros(REF_FIXED + count), wrench_P=np.zeros(6))
        self._own = Reference(np.zeros(REF_FIXED + count))
        self._inputs = SimpleInputs(count, limits)
        self.reset()

    def reset(self) -> None:
        """Nothing has come."""
        self._inputs.reset()
        self._stamp, self._received = -1, np.nan  # of the last reference [ns], simulation time [s]

    def take(self, t: float, stamp: int, level: int, row: Array, wrench_P: Array) -> None:
        """Take a reference row (19 + N) stamped `stamp` [ns] at simulation time `t` [s].

        Raises:
            BadInput: the reference cannot be used.
        """
        used = row if self._needs_headings else row[:REF_FIXED]
        sound = are_plausible(used) and are_plausible(wrench_P)
        _need(sound, "not finite, or beyond all bounds")
        _need(level in tuple(Level), f"level {level} is none of 0 to 3")
        _need(is_unit(row[REF_Q]), "its attitude is not a unit quaternion")
        newest = self._given
        newest.row[:], newest.wrench_P[:], newest.level = row, wrench_P, Level(level)
        self._stamp, self._received = stamp, t
        self.follows_inputs = False

    def take_pose(self, t: float, stamp: float, pose: Array) -> None:
        """Follow a pose (7,); `stamp` [s] of any clock.

        Raises:
            BadInput: it is not finite, beyond all bounds, or not a pose.
        """
        length = float(np.linalg.norm(pose[Q])) if are_plausible(pose) else 0.0
        _need(abs(length - 1.0) < _ODD_NORM, "no number, or no unit quaternion", "reference/pose")
        self._inputs.take_pose(t, stamp, np.concatenate([pose[:3], pose[Q] / length]))
        self.follows_inputs = True

    def take_rates(
        self, t: float, kind: Kind, rates: Array, q_WP: Array, *, in_body: bool
    ) -> None:
        """Follow a velocity or an acceleration (6,), given in the body at attitude `q_WP` (4,) or in the world.

        Raises:
            BadInput: it is not finite, or beyond all bounds.
        """
        _need(are_plausible(rates), "not finite, or beyond all bounds", f"reference/{kind}")
        self._inputs.take_rates(t, kind, world_rates(rates, q_WP, in_body=in_body))
        self.follows_inputs = True

    def at(self, t: float, stamp: int, x: Array) -> Reference | None:
        """The reference for the state row `x` (13,) of time `t` [s] and stamp [ns], if it is there."""
        if self.follows_inputs:
            self._own.row[:] = self._inputs.row(t, x)
            return self._own
        if self._stamp == stamp:
            return self._given
        if self._source == "stamped" or self._stamp < 0:
            return None
        if t - self._received > self._limits.timeout:
            return self._at_rest(self._given, x)
        return self._given

    def _at_rest(self, reference: Reference, x: Array) -> Reference:
        """A reference that has gone silent, with its motion stopped."""
        row = self._own.row
        row[:] = reference.row
        if reference.level == Level.POSE:
            row[REF_Q.stop : REF_FIXED] = 0.0
        else:
            at_rest(x, row)
        return self._own


def _need(is_so: bool, reason: str, what: str = "reference") -> None:
    if not is_so:
        raise BadInput(f"{what}: {reason}")
