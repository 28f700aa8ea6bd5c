# SPDX-License-Identifier: BSD-3-Clause
"""A wrench observer between messages: states, commands and inertial samples in, a wrench for every state out."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from iap_description.arrays import Array
from iap_description.config.bounds import are_plausible
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import Command, Mode
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver

COMMAND_TIMEOUT = 100_000_000  # simulation time for which what is known of thrusts holds [ns]
MOST_AHEAD = 1_000_000_000  # simulation time between a command and the newest state [ns]
MOST_COMMANDS = 1000  # that wait for their states
STAMP_TOLERANCE = 1e-6  # between the stamps of a sample and of a state of one time [s]


class WrenchObserver(Protocol):
    """An estimator of the wrench of the environment without a force sensor."""

    def reset(self) -> None:
        """Forget the past."""

    def __call__(self, x: Array, command: Command) -> Array:
        """Estimated wrench (6,) about P's origin in P [N, N m], of state rows (bodies, 13) and the last command."""


class ObserverLoop:
    """Publishes the wrench at every state, once the command that led there has come.

    A state that is overtaken by the next one while it waits is observed with the last command that
    there is, as the platform flew it, and the next ones so at once, until a command comes in time again.
    While commands stay away for longer than `COMMAND_TIMEOUT` nothing is
    published, and after it the observer starts over, as it does after a reset of the simulation.

    With inertial units, a state also waits for the samples up to it. A sample that is lost holds its state back
    until the next state comes. Before every unit has given a sample, nothing is published.

    Args:
        observer: of the wrench.
        bodies: of the platform.
        is_noisy: whether the central body's row comes on its own, as it is measured.
        publish: takes the stamp [ns] of a state and its wrench (6,) about P's origin in P, also again.
        units: the inertial units, of an `ImuWrenchObserver`.

    Attributes:
        stamp: of the last state [ns]; -1 before the first.
        is_silent: whether nothing is published, since commands stay away.
    """

    def __init__(
        self,
        observer: WrenchObserver,
        bodies: int,
        *,
        is_noisy: bool,
        publish: Callable[[int, Array], None],
        units: Sequence[ImuInfo] = (),
    ) -> None:
        self._observer, self._is_noisy, self._publish = observer, is_noisy, publish
        self._states, self._wrench_P = np.zeros((bodies, 13)), np.zeros(6)
        self._measured, self._base = -1, np.zeros(13)  # the last measured row, and its stamp
        self._commands: dict[int, Command] = {}  # by the stamp of the state that they answer
        self.stamp = self._previous = self._observed = -1
        self._waits = self._is_known = self.is_silent = self._is_overtaken = False
        self._periods = {unit.topic: 1.0 / unit.rate for unit in units}
        self._begin_samples()

    def _begin_samples(self) -> None:
        self._newest = dict.fromkeys(self._periods, -np.inf)
        self._samples: list[Reading] = []

    def take_state(self, stamp: int, x: Array) -> None:
        """Take state rows (bodies, 13).

        Raises:
            BadInput: they are of another platform, not finite, or beyond all bounds.
        """
        if stamp == self.stamp:
            self._repeat()
            return
        if x.shape != self._states.shape:
            bodies = len(self._states)
            raise BadInput(f"state: of {len(x)} bodies, for a platform of {bodies}")
        if not are_plausible(x.ravel()):
            raise BadInput("state: not finite, or beyond all bounds")
        if stamp < self.stamp:
            self._begin_anew(stamp)
        elif self._waits and self._has_base and not self.missing:
            self._observe()
            self._is_overtaken = True
        self._previous, self.stamp = self.stamp, stamp
        self._states[:] = x
        self._waits, self._is_known = True, False
        self._try()

    def take_measured(self, stamp: int, row: Array) -> None:
        """Take what is measured (13,) of the central body.

        Raises:
            BadInput: it is not finite, or beyond all bounds.
        """
        if not are_plausible(row):
            raise BadInput("state/measured: not finite, or beyond all bounds")
        self._measured, self._base[:] = stamp, row
        self._try()

    def take_command(self, stamp: int, command: Command) -> None:
        """Take the command that answers the state of a stamp [ns]; it is kept.

        Raises:
            BadInput: it is a platform's wrench, which does not say what the aircraft do, or it is of another time.
        """
        if command.mode == Mode.WRENCH:
            raise BadInput("command: of mode 'wrench', which names no thrusts to observe by")
        if abs(stamp - self.stamp) > MOST_AHEAD and self.stamp >= 0:
            raise BadInput("header.stamp: far from the newest state's")
        if len(self._commands) >= MOST_COMMANDS:
            del self._commands[next(iter(self._commands))]
        self._commands[stamp] = command
        self._is_overtaken &= stamp != self._previous
        self._try()

    def take_reading(self, reading: Reading) -> None:
        """Take a sample; it counts once, for the first state that is no earlier."""
        newest = self._newest[reading.source.topic]
        if newest - 1e-9 * COMMAND_TIMEOUT < reading.t <= newest:
            return  # the same again, as states are that wait for an answer
        self._newest[reading.source.topic] = reading.t
        self._samples.append(reading)
        self._try()

    @property
    def missing(self) -> list[str]:
        """Topics of units that have given no sample yet."""
        return [topic for topic, t in self._newest.items() if not np.isfinite(t)]

    @property
    def _has_base(self) -> bool:
        return not self._is_noisy or self._measured == self.stamp

    @property
    def _has_samples(self) -> bool:
        """True if the samples of all units up to the last state are here."""
        due = 1e-9 * self.stamp + STAMP_TOLERANCE
        return all(t + self._periods[topic] > due for topic, t in self._newest.items())

    def _begin_anew(self, stamp: int) -> None:
        self._observer.reset()
        self._commands = {s: c for s, c in self._commands.items() if s <= stamp}
        self.stamp = self._previous = self._observed = -1
        self._is_overtaken = False
        self._begin_samples()

    def _repeat(self) -> None:
        if self._is_known:
            self._publish(self.stamp, self._wrench_P)

    def _try(self) -> None:
        is_commanded = self._previous in self._commands or self._is_overtaken
        is_answered = is_commanded and self._has_samples
        if self._waits and self._has_base and (self._previous < 0 or is_answered):
            self._observe()

    def _observe(self) -> None:
        """Publish the wrench at the last state, if the command that led there is known."""
        self._waits = False
        if self._is_noisy:
            self._states[0] = self._base
        if self._previous < 0:  # nothing is known of the thrusts that led here
            self._wrench_P[:] = 0.0
            self._observed = self.stamp
            self.is_silent = False
        else:
            self.is_silent = not self._advance()
        self._is_known = not self.is_silent
        self._repeat()

    def _advance(self) -> bool:
        """Observe the last state; False if it is not known by which command it came about."""
        self._pass_samples(1e-9 * self.stamp + STAMP_TOLERANCE)
        answered = max((s for s in self._commands if s <= self._previous), default=-1)
        if answered < 0 or self._previous - answered > COMMAND_TIMEOUT:
            self._observer.reset()
            return False
        if self.stamp - self._observed > COMMAND_TIMEOUT:
            self._observer.reset()
        self._wrench_P[:] = self._observer(self._states, self._commands[answered])
        self._observed = self.stamp
        self._commands = {s: c for s, c in self._commands.items() if s >= answered}
        return True

    def _pass_samples(self, end: float) -> None:
        """Pass the samples up to a time [s] on to the observer."""
        if isinstance(self._observer, ImuWrenchObserver):
            for reading in self._samples:
                if reading.t <= end:
                    self._observer.receive(reading)
            self._samples = [reading for reading in self._samples if reading.t > end]
