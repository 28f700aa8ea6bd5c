# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a run that are filled while it is flown, and handed on when they are full."""

from collections.abc import Callable, Sequence

from iap_description.signals import Step
from iap_io.runs.columns import Columns
from iap_io.runs.vehicle_meta import VehicleMeta

HandOn = Callable[[list[Columns], int], None]


class FilledColumns:
    """Columns of vehicles; every tick gives all vehicles, in order.

    Args:
        rows: that they hold.
        vehicles: of the run.
        hand_on: is given columns that are full, or as full as they have become, and the number of their ticks; they are
            its own from then on.
    """

    def __init__(self, rows: int, vehicles: Sequence[VehicleMeta], hand_on: HandOn) -> None:
        self._rows, self._vehicles, self._hand_on = rows, tuple(vehicles), hand_on
        self._begin()

    def _begin(self) -> None:
        self._columns = [Columns.zeros(self._rows, vehicle) for vehicle in self._vehicles]
        self._filled = [0] * len(self._vehicles)

    def put(self, vehicle: int, step: Step) -> None:
        """Take one control tick of a vehicle, by its place among them.

        Raises:
            ValueError: a vehicle was left out.
        """
        i = self._place(vehicle)
        self._columns[vehicle].put(i, step)
        self._filled[vehicle] = i + 1

    def put_rows(self, vehicle: int, rows: Columns) -> None:
        """Take control ticks of a vehicle that follow each other, as so many calls of `put` would.

        Raises:
            ValueError: a vehicle was left out.
        """
        begin, count = 0, len(rows.k)
        while begin < count:
            i = self._place(vehicle)
            end = min(count, begin + self._rows - i)
            self._columns[vehicle].put_rows(i, rows.rows(slice(begin, end)))
            self._filled[vehicle] = i + end - begin
            begin = end

    def _place(self, vehicle: int) -> int:
        """Row of a vehicle's next tick."""
        i = self._filled[vehicle]
        if i < self._rows:
            return i
        if min(self._filled) < i:
            raise ValueError("every tick must record every vehicle")
        self.flush()
        return 0

    def flush(self) -> None:
        """Hand on the ticks that all vehicles have; one that is cut off half-way is dropped."""
        ticks = min(self._filled)
        if ticks:
            self._hand_on(self._columns, ticks)  # where an interrupt loses nothing
        self._begin()
