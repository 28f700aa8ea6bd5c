# SPDX-License-Identifier: BSD-3-Clause
"""Commands to one vehicle of a session: which one counts, and what stands in where none comes."""

from collections.abc import Callable
from dataclasses import dataclass

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_physics.plant.plant import NO_WRENCH_HERE
from iap_physics.session.failsafe import FailSafe


@dataclass
class CommandCounts:
    """CommandCounts of the commands to one vehicle.

    Attributes:
        taken: commands that came in time.
        late: that came after their period had begun, or were overwritten by the next on their way.
        lost: that never came while the vehicle was without commands.
        holds: how often the vehicle had to hold because commands stayed away.
    """

    taken: int = 0
    late: int = 0
    lost: int = 0
    holds: int = 0


class CommandBuffer:
    """Commands to one vehicle of `count` aircraft, numbered by the answered state; `hold` replaces missing ones.

    Attributes:
        newest: number of the newest command.
        is_holding, is_kept: whether `hold`, or the last command, stands in for those that are missing.
        counts: of commands.
    """

    def __init__(self, name: str, count: int, hold: FailSafe) -> None:
        self.name, self.hold = name, hold
        self.counts = CommandCounts()
        self._command, self._draft = Command.zeros(count), Command.zeros(count)
        self.reset()

    def reset(self) -> None:
        """Nothing has come; the counts stay."""
        self.newest = -1
        self.is_new = False  # and not flown yet
        self.is_holding = self.is_kept = False

    def offer(self, number: int, k: int, fill: Callable[[Command], None]) -> None:
        """Take command `number` at the time of state `k`; `fill` writes it.

        Raises:
            BadInput: it cannot be used.
        """
        if number <= self.newest:  # the same one again, or overtaken on its way
            return
        if number > k:
            raise BadInput("header.stamp: later than the present state")
        fill(self._draft)
        if self._draft.mode == Mode.WRENCH:
            raise BadInput(NO_WRENCH_HERE)
        self._count(number, k)
        self._command, self._draft = self._draft, self._command
        self.newest, self.is_new = number, True

    def _count(self, number: int, k: int) -> None:
        missing = number - self.newest - 1
        if self.is_holding:
            self.counts.lost += missing
        else:
            self.counts.late += missing
        if number == k:
            self.counts.taken += 1
        else:
            self.counts.late += 1

    def next_command(self, x: Array, *, is_stale: bool) -> Command | None:
        """The command for the coming period from state rows (bodies, 13); None goes on with the last command."""
        if is_stale:
            if not self.is_holding:
                self.is_holding = True
                self.counts.holds += 1
                self.hold.begin(x)
            return self.hold(x)
        self.is_holding = False
        new, self.is_new = self.is_new, False
        return self._command if new else None
