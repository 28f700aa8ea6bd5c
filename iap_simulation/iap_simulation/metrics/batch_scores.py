# SPDX-License-Identifier: BSD-3-Clause
"""The metrics of many worlds while they fly: of each those that its single run has."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from iap_description.arrays import Array, Booleans, Integers
from iap_description.states import Command
from iap_io.runs.column_messages import seconds, stamps_ns
from iap_io.runs.columns import Columns, put_command
from iap_io.runs.run_meta import RunMeta, RunStats
from iap_io.runs.run_reader import PIECE, VehicleTracks
from iap_simulation.metrics.metrics import Scores


class BatchScores:
    """Judges the flights of B worlds that begin together, each piece by piece as a recording is judged.

    Args:
        runs: (B,) descriptions of the runs, of one vehicle each.
        tracks: what the vehicle's flight is set against.
        ticks: that a flight has at most.
    """

    def __init__(
        self, runs: Sequence[RunMeta], tracks: Sequence[VehicleTracks], ticks: int
    ) -> None:
        self._scores = [Scores(run, tracks) for run in runs]
        (vehicle,) = runs[0].vehicles
        batch, self._most = len(runs), min(ticks, PIECE)
        self._columns = Columns.zeros(self._most * batch, vehicle).shaped(self._most, batch)
        self._filled = 0
        self._own = np.zeros(batch, dtype=np.int64)  # ticks of each world since they were judged

    def record(
        self,
        k: int,
        t: float,
        x: Array,
        references: tuple[Array, Integers],
        command: Command,
        rpm: Array,
        flies: Booleans,
    ) -> None:
        """Take one control tick of all worlds.

        Args:
            k: its number.
            t: simulation time [s].
            x: (B, bodies, 13) states.
            references: rows (B, 19 + N), and what is tracked of them (B,).
            command: arrays (B, ...).
            rpm: (B, N, 4) rotor speeds.
            flies: (B,) which worlds have this tick; one that has not has none later either.
        """
        if self._filled == self._most:
            self._judge()
        i, c = self._filled, self._columns
        c.k[i], c.t[i], c.x[i], c.rpm[i] = k, t, x, rpm
        c.reference[i], c.level[i] = references
        c.mode[i], c.wrench_P[i] = command.mode, command.wrench_P
        put_command(c.aircraft[i], command)
        self._own += flies
        self._filled += 1

    def metrics(self, stats: Sequence[RunStats]) -> list[dict[str, Any]]:
        """All of metrics.json of each world, once, at the end of the flights."""
        self._judge()
        return [
            {**scores.metrics(each), "collisions": []}
            for scores, each in zip(self._scores, stats, strict=True)
        ]

    def _judge(self) -> None:
        """Judge the rows, and begin anew."""
        for b, (scores, ticks) in enumerate(zip(self._scores, self._own.tolist(), strict=True)):
            if ticks:
                columns = self._columns.rows((slice(ticks), b)).copy()
                columns.t[:] = seconds(stamps_ns(columns.t))
                scores.add([columns])
        self._filled = 0
        self._own[:] = 0
