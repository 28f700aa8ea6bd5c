# SPDX-License-Identifier: BSD-3-Clause
"""Commands that the aircraft of many worlds obey, those on their way to them, and rotors that follow."""

import copy
from typing import NamedTuple, Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers
from iap_description.states import Mode


class LastCommand(NamedTuple):
    """The commands of N aircraft in B worlds that count until the next ones, see `iap_description.states.Command`.

    Attributes:
        modes: (B, N) how to read each, a `Mode`.
        thrust: (B, N) [N].
        q_WB: (B, N, 4).
        w_WB_B: (B, N, 3) [rad/s].
        rpm: (B, N, 4).
        tilt: (B, N, 4) [rad].
    """

    modes: Integers
    thrust: Array
    q_WB: Array
    w_WB_B: Array
    rpm: Array
    tilt: Array

    def of_aircraft(self, n: int) -> Self:
        """Commands of one aircraft, as views (B, 1, ...)."""
        one = slice(n, n + 1)
        return type(self)(
            self.modes[:, one],
            self.thrust[:, one],
            self.q_WB[:, one],
            self.w_WB_B[:, one],
            self.rpm[:, one],
            self.tilt[:, one],
        )


class FleetArrays(NamedTuple):
    """Commands and rotors of N aircraft in B worlds.

    Attributes:
        command: that autopilots obey.
        rpm: (B, N, 4) speeds of rotors [rpm].
        tilt: (B, N, 4) their angles about the arms [rad].
        target: (B, N, 4) speeds that autopilots have commanded last [rpm].
    """

    command: LastCommand
    rpm: Array
    tilt: Array
    target: Array

    @classmethod
    def empty(cls, batch: int, count: int) -> Self:
        """Rotors that stand still, until they are commanded."""
        command = LastCommand(
            np.full((batch, count), int(Mode.RPM), dtype=np.int64),
            np.zeros((batch, count)),
            np.zeros((batch, count, 4)),
            np.zeros((batch, count, 3)),
            np.zeros((batch, count, 4)),
            np.zeros((batch, count, 4)),
        )
        return cls(command, *np.zeros((3, batch, count, 4)))

    def of_aircraft(self, n: int) -> Self:
        """Arrays of one aircraft, as views (B, 1, ...)."""
        rotors = (each[:, n : n + 1] for each in self[1:])
        return type(self)(self.command.of_aircraft(n), *rotors)


class CommandDelay:
    """Delays of whole control periods, a number of its own for each of B worlds.

    Args:
        acting: the commands that aircraft obey, which `apply_due` overwrites.

    Attributes:
        latest: the commands that came last.
    """

    def __init__(self, acting: LastCommand) -> None:
        self._acting = acting
        self.latest = copy.deepcopy(acting)
        self._periods = np.zeros(len(acting.modes), dtype=np.int64)
        # A ring: the newest commands are at the head, older ones behind it.
        self._past: list[Array | Integers] = [each[None].copy() for each in acting]
        self._head = 0

    def set_periods(self, worlds: int | slice, periods: int) -> None:
        """Let the commands of some worlds take so many control periods."""
        self._periods[worlds] = periods
        more = int(self._periods.max()) + 1 - len(self._past[0])
        if more > 0:
            oldest = self._head - 1
            for k, past in enumerate(self._past):
                grown = np.repeat(past[[oldest]], more, axis=0)
                self._past[k] = np.concatenate([past[self._head :], past[: self._head], grown])
            self._head = 0

    def reset(self, worlds: Integers) -> None:
        """Forget what is on its way in some worlds: they go on under the commands that act."""
        for latest, past, acting in zip(self.latest, self._past, self._acting, strict=True):
            latest[worlds] = acting[worlds]
            past[:, worlds] = acting[worlds]

    def apply_due(self) -> None:
        """Begin a control period: send the latest commands, and let act what is due."""
        size, worlds = self._past[0].shape[:2]
        self._head = (self._head - 1) % size
        for latest, past, acting in zip(self.latest, self._past, self._acting, strict=True):
            rows = latest.reshape(worlds, -1), past.reshape(size, worlds, -1)
            _pass_on(*rows, acting.reshape(worlds, -1), self._head, self._periods)


@njit(cache=True)
def _pass_on(latest: Array, past: Array, acting: Array, head: int, periods: Integers) -> None:
    """Put the latest numbers (B, n) at the head of the ring (size, B, n), and copy out what is due in each world."""
    for w in range(len(periods)):
        due = (head + periods[w]) % len(past)
        for k in range(latest.shape[1]):
            past[head, w, k] = latest[w, k]
            acting[w, k] = past[due, w, k]
