# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of a plant's parts: what acts on its vehicles, or measures them, besides rotors and air."""

from pathlib import Path

from iap_description.arrays import Array, Integers
from iap_description.states import Command


class PlantPart:
    """A part that does nothing; parts override what they take part in, and are called in the plant's order.

    A plant calls only what a part overrides. Parts that override `before_step` or `end_step` act within physics steps:
    the plant then takes these one by one, in a world that is no batch.
    """

    def reset(self, x: Array, worlds: Integers) -> None:
        """Some worlds start anew; (B, bodies, 13) are the state rows of all."""

    def postpones(
        self, vehicle: int, command: Command, k: int, t: float, *, on_board: bool
    ) -> bool:
        """True if a vehicle's command of control instant k, time t [s], is kept by this part until it acts.

        Args:
            vehicle: its number.
            command: to it; the caller overwrites it later.
            k: number of the control instant.
            t: its time [s].
            on_board: whether it is the aircraft's own.
        """
        return False

    def begin_period(self, k: int, t: float) -> None:
        """A control period of instant k, time t [s], begins."""

    def add_wrenches(self, times: Array, x: Array, out: Array) -> None:
        """Add wrenches that act for a control period.

        Args:
            times: (B,) of the worlds [s].
            x: (B, vehicles, 13) state rows of the vehicles' central bodies.
            out: (B, vehicles, 6) on these, about their CoMs, world axes.
        """

    def begin_step(self, x: Array, t: float) -> None:
        """Act on what rotors are commanded, before a physics step from state rows (B, bodies, 13) at time t [s] on."""

    def before_step(self, x: Array, wrenches: Array, t: float, dt: float) -> None:
        """Act in a physics step that comes.

        Args:
            x: (bodies, 13) state rows.
            wrenches: (bodies, 6) on the bodies about their CoMs, world axes, which are added to.
            t: at its start [s].
            dt: its length [s].
        """

    def end_step(self, before: Array, t: float) -> None:
        """A physics step has ended at time t [s] that began at state rows `before` (bodies, 13)."""

    def add_reaction(self, row: int, before: Array, out: Array) -> None:
        """Add what this part did to a body in the last step to a wrench (6,) about its CoM, world axes."""

    def after_step(self, x: Array) -> None:
        """Look at the state rows (B, bodies, 13) at the end of a physics step."""

    def end_period(self) -> None:
        """A control period that was stepped one by one has ended."""

    def write(self, folder: Path) -> None:
        """Write files of the flight into a run's folder."""

    def close(self) -> None:
        """Give back what is held outside this process; a second time is fine."""


def overriding(parts: tuple[PlantPart, ...], method: str) -> tuple[PlantPart, ...]:
    """The parts that override a method of the protocol."""
    plain = getattr(PlantPart, method)
    return tuple(each for each in parts if getattr(type(each), method) is not plain)
