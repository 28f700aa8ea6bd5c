# SPDX-License-Identifier: BSD-3-Clause
"""Monitor of lost modules: of commands that stay away, and of motors that are known to have stopped."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

from iap_control.modules.settings import ModulesSpec
from iap_description.errors import BadInput
from iap_description.vehicles.faults import has_come


class ModuleLoss(NamedTuple):
    """A module that is lost, and the one that leads its structure from then on."""

    t: float
    module: str
    leader: str

    def __str__(self) -> str:
        """A sentence for the user."""
        return f"module '{self.module}': lost, '{self.leader}' leads"


class LossMonitor:
    """Finds modules that are lost; once lost, a module does not lead again in the same flight.

    A module is late when its newest command is older than the newest of any module by more than `patience`. If all
    were silent, as on a busy machine, the clock restarts for all.

    Args:
        stops: times at which motors of modules stop, by the modules' numbers [s].
        patience: without a command, after which a module is lost [s].

    Attributes:
        modules: numbers of those that are lost.
    """

    def __init__(self, stops: dict[int, float], patience: float) -> None:
        self._stops, self._patience = stops, patience
        self._newest = (
            self._resumed
        ) = -math.inf  # command of all, and the first after a silence of all [s]
        self.modules: frozenset[int] = frozenset()

    @classmethod
    def of(cls, spec: ModulesSpec, names: Sequence[str]) -> Self:
        """The losses of modules by their names, in their order.

        Raises:
            BadInput: a fault of no module.
        """
        return cls(fault_times(spec, names, "motors"), spec.lost_after)

    def stopped(self, t: float) -> list[int]:
        """Numbers of modules whose motors have stopped by a time [s]."""
        return sorted(i for i, at in self._stops.items() if has_come(at, t))

    def update(self, t: float, command_times: Sequence[float]) -> list[int]:
        """Numbers of modules that are lost since the last update.

        Args:
            t: time [s].
            command_times: times of the modules' last commands [s].
        """
        newest = max(command_times)
        if newest - self._newest > self._patience:
            self._resumed = newest
        self._newest = newest
        since = [max(last, self._resumed) for last in command_times]
        late = {i for i, last in enumerate(since) if has_come(last + self._patience, newest)}
        new = sorted(late.union(self.stopped(t)) - self.modules)
        self.modules |= frozenset(new)
        return new


def fault_times(spec: ModulesSpec, names: Sequence[str], kind: str) -> dict[int, float]:
    """Times of faults of a kind, by the numbers of modules [s].

    Raises:
        BadInput: a fault of no module.
    """
    for i, fault in enumerate(spec.faults):
        if fault.module not in names:
            known = ", ".join(names)
            raise BadInput(
                f"key 'modules.faults.{i}.module': no module '{fault.module}' ({known})"
            )
    order = list(names)
    return {order.index(each.module): each.at for each in spec.faults if each.kind == kind}
