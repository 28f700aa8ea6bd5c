# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a training while it runs: a table, TensorBoard's events, and whoever watches."""

import csv
import io
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from iap_description.config.text_files import is_file, read_text
from iap_description.errors import BadInput
from iap_io.runs.run_folder import write_file
from iap_learning.training.libraries import SummaryWriter

PROGRESS, EVENTS = "progress.csv", "tensorboard"
Row = dict[str, str | float]
Watcher = Callable[[Row], None]
COLUMNS = (
    "stage",  # and how far it is: updates offline, steps online
    "steps",
    "success",  # share, mean sum of rewards and mean length [s] of the episodes that ended meanwhile, with exploration
    "return",
    "seconds",
    "judged_success",  # the same of an episode of each world without exploration
    "judged_return",
    "judged_seconds",
    "data_success",  # share of the episodes that were learned from
    "error",  # of critics, or of a cloned policy
    "divergence",  # of the policy from the one before [nat]
    "clipped",  # share of ratios
    "epochs",
    "level",  # of the curriculum
    "sigma",  # of exploration, the mean over an action's numbers
    "actor_rate",
    "value",
    "policy",
    "steps_per_s",
)


class TrainingLog:
    """The rows of a training, in its folder.

    Args:
        folder: of the training.
        watch: is told of every row.
        known: rows of the table there that count, of a training that goes on; what came later is done again.

    Raises:
        BadInput: a line or a column of the table there is damaged.

    Attributes:
        rows: so far.
        reached: steps of each stage.
    """

    def __init__(self, folder: Path, watch: Watcher | None = None, known: int = 0) -> None:
        self.rows = read_progress(folder / PROGRESS)[:known]
        self._file, self._watch = folder / PROGRESS, watch
        odd = {key for row in self.rows for key in row} - set(COLUMNS)
        if odd:
            raise BadInput(
                f"{self._file}: line 1 is damaged: no training has a column {min(odd)!r}"
            )
        self._events = SummaryWriter(str(folder / EVENTS), write_to_disk=True)
        self._since = time.perf_counter()
        self.reached = {str(row["stage"]): float(row["steps"]) for row in self.rows}

    def add(self, stage: str, steps: int, values: dict[str, float]) -> None:
        """Add a row; a value that is no number is left out."""
        known = {key: float(each) for key, each in values.items() if math.isfinite(each)}
        rate = self._rate(steps - self.reached.get(stage, 0.0))
        row: Row = {"stage": stage, "steps": steps, **known, "steps_per_s": rate}
        self.rows.append(row)
        self.reached[stage] = steps
        for key, each in known.items():
            self._events.add_scalar(f"{stage}/{key}", each, steps)
        if self._watch is not None:
            self._watch(row)

    def _rate(self, steps: float) -> float:
        """Steps since the last row, per second."""
        before, self._since = self._since, time.perf_counter()
        return round(steps / (self._since - before), 1)

    def write(self) -> None:
        """Write the table, and what TensorBoard reads."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_file(self._file, text.getvalue().encode())
        self._events.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.write()
        self._events.close()


def read_progress(path: Path) -> list[Row]:
    """The rows of a training's table; none where there is no table yet.

    Raises:
        BadInput: a line is damaged.
    """
    if not is_file(path):
        return []
    reader = csv.DictReader(io.StringIO(read_text(path)))
    try:
        return [_numbers(row) for row in reader]
    except (ValueError, TypeError, KeyError, csv.Error) as error:  # or with cells too few or many
        raise BadInput(f"{path}: line {reader.line_num} is damaged: {error}") from error


def _numbers(row: dict[str, str]) -> Row:
    known = {key: text for key, text in row.items() if text}
    stage, steps = known.pop("stage"), known.pop("steps")
    numbers = {key: float(text) for key, text in known.items()}
    return {"stage": stage, "steps": int(steps), **numbers}
