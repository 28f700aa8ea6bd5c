# SPDX-License-Identifier: BSD-3-Clause
"""When a controller answers: which reference goes with which state as both arrive in messages."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from iap_control.controller import PlatformController, Reference
from iap_control.inputs import Inputs, Kind, Limits, held, world_rates
from iap_description.errors import BadInput
from iap_description.states import REF_FIXED, REF_Q, STATE_SIZE, Command, Level, Q

Array = NDArray[np.float64]
Source = Literal["stamped", "latest"]
SOURCES: tuple[Source, ...] = ("stamped", "latest")
SECOND = 1e9  # [ns]
IDENTITY = (0.0, 0.0, 0.0, 1.0)


@dataclass
class Counts:
    """What happened so far.

    Attributes:
        answered: states that got a command.
        skipped: states that were overtaken by the next one before their reference came.
        rejected: messages that were not finite or did not fit.
    """

    answered: int = 0
    skipped: int = 0
    rejected: int = 0


@dataclass
class _Given:
    """The last reference and when it came; NaN before the first."""

    reference: Reference
    stamp: int = -1  # [ns]
    received: float = field(default=np.nan)  # simulation time [s]


class ControlLoop:
    """Answers every state with one command, once its reference is there.

    A state that comes again gets the same command again, and does not advance the controller: so
    either side may repeat what may have been lost. A state that is older than the last one is a
    reset of the simulation, and the controller begins anew.

    Args:
        controller: computes the commands.
        limits: of simple inputs and references without a stamp of their own.
        source: ``stamped`` answers a state only with the reference of the same stamp; ``latest``
            with the newest. Once a simple input came, it is followed until the next reference.
    """

    def __init__(self, controller: PlatformController, limits: Limits, source: Source) -> None:
        count = controller.model.count
        self.controller = controller
        self.follows_inputs = False
        self.counts = Counts()
        self.stamp = -1  # of the last state [ns]
        self.sequence = 0
        self.command: Command | None = None  # for the last state, once it is answered
        self._source, self._limits = source, limits
        self._x = np.zeros(STATE_SIZE)
        self._given = _Given(Reference(np.zeros(REF_FIXED + count), wrench_P=np.zeros(6)))
        self._inputs = Inputs(count, limits)
        self._own = Reference(np.zeros(REF_FIXED + count))
        self._warm_up()

    def _warm_up(self) -> None:
        """Compute one command, so that whatever is loaded when first used is there."""
        self._x[Q], self._own.row[REF_Q] = IDENTITY, IDENTITY
        self.controller(self._x, self._own)
        self.controller.reset()

    @property
    def t(self) -> float:
        """Simulation time of the last state [s]."""
        return self.stamp / SECOND

    @property
    def waits_for_reference(self) -> bool:
        """Whether a state is there and its reference is not."""
        return self.stamp >= 0 and self.command is None

    def take_state(self, stamp: int, sequence: int, x: Array) -> Command | None:
        """Take a state row (13,) of the central body; returns the command if its reference is there.

        Raises:
            BadInput: the state is not finite.
        """
        if stamp == self.stamp and self.command is not None:
            return self.command
        self._need(bool(np.isfinite(x).all()), "state: not finite")
        if stamp < self.stamp:
            self._begin_anew()
        elif self.waits_for_reference and stamp > self.stamp:
            self.counts.skipped += 1
        self.stamp, self.sequence, self.command = stamp, sequence, None
        self._x[:] = x
        return self._answer()

    def take_reference(
        self, stamp: int, level: int, row: Array, wrench_P: Array
    ) -> Command | None:
        """Take a reference row (19 + N); returns the command if its state waits for it.

        Raises:
            BadInput: the reference cannot be used.
        """
        used = row if self.controller.yaw_mode == "given" else row[:REF_FIXED]
        finite = np.isfinite(used).all() and np.isfinite(wrench_P).all()
        self._need(bool(finite), "reference: not finite")
        self._need(level in tuple(Level), f"reference: level {level} is none of 0 to 3")
        upright = abs(row[REF_Q] @ row[REF_Q] - 1.0) < 1e-3
        self._need(bool(upright), "reference: its attitude is not a unit quaternion")
        given = self._given
        given.reference.row[:], given.reference.wrench_P[:] = row, wrench_P
        given.reference.level = Level(level)
        given.stamp, given.received = stamp, self.t
        self.follows_inputs = False
        return self._answer() if self.waits_for_reference else None

    def take_pose(self, stamp: float, pose: Array) -> None:
        """Follow a pose (7,); `stamp` [s] of any clock.

        Raises:
            BadInput: it is not finite or not a pose.
        """
        length = float(np.linalg.norm(pose[Q])) if np.isfinite(pose).all() else 0.0
        self._need(abs(length - 1.0) < 1e-2, "reference/pose: not finite, or no unit quaternion")
        pose = np.concatenate([pose[:3], pose[Q] / length])
        self._inputs.take_pose(self.t, stamp, pose)
        self.follows_inputs = True

    def take_rates(self, kind: Kind, rates: Array, *, in_body: bool) -> None:
        """Follow a velocity or an acceleration (6,), given in the body or in the world.

        Raises:
            BadInput: it is not finite.
        """
        self._need(bool(np.isfinite(rates).all()), f"reference/{kind}: not finite")
        rates = world_rates(rates, self._x[Q], in_body=in_body)
        self._inputs.take_rates(self.t, kind, rates)
        self.follows_inputs = True

    def _need(self, is_so: bool, reason: str) -> None:
        if not is_so:
            self.counts.rejected += 1
            raise BadInput(reason)

    def _begin_anew(self) -> None:
        self.controller.reset()
        self._inputs.reset()
        self._given.stamp, self._given.received = -1, np.nan

    def _answer(self) -> Command | None:
        reference = self._reference()
        if reference is not None:
            self.command = self.controller(self._x, reference)
            self.counts.answered += 1
        return self.command

    def _reference(self) -> Reference | None:
        """The reference for the last state, if it is there."""
        given = self._given
        if self.follows_inputs:
            self._own.row[:] = self._inputs.row(self.t, self._x)
            return self._own
        if given.stamp == self.stamp:
            return given.reference
        if self._source == "stamped" or given.stamp < 0:
            return None
        if self.t - given.received > self._limits.timeout:
            return self._at_rest(given.reference)
        return given.reference

    def _at_rest(self, reference: Reference) -> Reference:
        """A reference that has gone silent, with its motion stopped."""
        own = self._own.row
        own[:] = reference.row
        if reference.level == Level.POSE:
            own[REF_Q.stop : REF_FIXED] = 0.0
        else:
            held(self._x, own)
        return self._own
