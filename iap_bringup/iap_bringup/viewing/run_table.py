# SPDX-License-Identifier: BSD-3-Clause
"""Tables of many runs, of which a viewer shows one after the other: sweeps, data sets and evaluations."""

import csv
import io
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml

from iap_description.config.json_files import read_json
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.text_files import read_text
from iap_description.errors import BadInput
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import execute
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.sweeps.study import with_values
from iap_simulation.sweeps.sweep_folder import RUNS, STUDY, TABLE

Row = Mapping[str, str]
EVALUATION, EPISODES = "evaluation.json", "episodes.csv"
EVALUATION_KEYS = {"arguments": dict, "policy": dict, "task": str, "engine": str, "failures": dict}


class RunTable(Protocol):
    """Runs with their metrics.

    Attributes:
        title: of all of them.
        rows: one of each run, all with the same keys.
    """

    title: str
    rows: Sequence[Row]

    def recorded(self, number: int) -> Path | None:
        """The run folder of a row; None where nothing was recorded."""

    def fly(self, number: int, folder: Path) -> None:
        """Fly a row's run again into an empty folder.

        Raises:
            BadInput: it cannot be flown.
        """


class SweepTable:
    """The runs of a sweep or a data set.

    Args:
        folder: of the sweep.

    Raises:
        BadInput: the sweep is not complete, or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._study = folder, read_yaml(folder / STUDY)
        self.title: str = f"{self._study.get('scenario')}, {folder.resolve().name}"
        self.rows: Sequence[Row] = _rows(folder / TABLE)
        vary, self._seeds = self._study.get("vary", {}), self._study.get("seeds", 1)
        self._points = [
            dict(zip(vary, each, strict=True)) for each in itertools.product(*vary.values())
        ]
        if len(self.rows) != len(self._points) * self._seeds:
            raise BadInput(f"{folder / TABLE}: not the runs that {STUDY} names; sweep again")

    def recorded(self, number: int) -> Path | None:
        """The run folder of a row of a data set."""
        name = self.rows[number].get("folder")
        return self._folder / RUNS / name if name else None

    def fly(self, number: int, folder: Path) -> None:
        """Fly a run again by its values and its seed, see `RunTable`."""
        file = folder.with_name(f"{folder.name}.yaml")
        file.write_text(yaml.safe_dump(self._study["first_run"], sort_keys=False))
        options = with_values(Options(), self._points[number // self._seeds])
        seed = int(self.rows[number]["seed"])
        scenario, tree = resolve(str(file), options.model_copy(update={"seed": seed}))
        execute(Flight.of(scenario), folder, tree)


class EvaluationTable:
    """The episodes of an evaluation.

    Args:
        folder: of the evaluation.

    Raises:
        BadInput: the evaluation is damaged, or of a version that does not name what flew.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._tree = folder, read_json(folder / EVALUATION)
        for key, kind in EVALUATION_KEYS.items():
            if not isinstance(self._tree, dict) or not isinstance(self._tree.get(key), kind):
                raise BadInput(f"{folder / EVALUATION}: no key '{key}'; evaluate again")
        name = self._tree["policy"]["name"]
        self.title: str = f"{name} on {self._tree['task']}, {folder.resolve().name}"
        self.rows: Sequence[Row] = _rows(folder / EPISODES)

    def recorded(self, number: int) -> Path | None:
        """The run folder of the first failure of a cause."""
        seed = int(self.rows[number]["seed"])
        for failure in self._tree["failures"].values():
            if failure["first_seed"] == seed and failure["recorded"]:
                folder = self._folder / failure["recorded"]
                return folder if folder.is_dir() else None
        return None

    def fly(self, number: int, folder: Path) -> None:
        """Fly an episode again by its seed, in the engine that flew it or the closest one, see `RunTable`."""
        # slow to import
        from iap_learning.evaluation.engines import record_episode, recording_engine
        from iap_learning.evaluation.subjects import subject_of

        task, flyer, policy = subject_of(**self._tree["arguments"])
        if policy is not None and policy.digest != self._tree["policy"]["sha256"]:
            raise BadInput(f"policy '{flyer.name}' is another one by now: evaluate it again")
        engine = recording_engine(task, self._tree["engine"])
        folder.rmdir()  # it is made anew
        record_episode(task, flyer, engine, int(self.rows[number]["seed"]), folder)


def _rows(path: Path) -> list[dict[str, str]]:
    """Lines of a table.

    Raises:
        BadInput: it is not there, empty or damaged.
    """
    if not path.is_file():
        raise BadInput(f"{path}: not there yet; the sweep's own command with --out goes on")
    reader = csv.DictReader(io.StringIO(read_text(path)))
    try:
        rows = list(reader)
        seeds = [int(row["seed"]) for row in rows]
    except (ValueError, TypeError, KeyError, csv.Error) as error:
        raise BadInput(f"{path}: line {reader.line_num} is damaged: {error}") from error
    if not seeds:
        raise BadInput(f"{path}: no runs")
    return rows


TABLES: Mapping[str, Callable[[Path], RunTable]] = {  # by a file of the folder
    STUDY: SweepTable,
    EVALUATION: EvaluationTable,
}


def table_of(folder: Path) -> RunTable | None:
    """The table of runs that a folder holds; None if it is none.

    Raises:
        BadInput: it is damaged.
    """
    kinds = (kind for marker, kind in TABLES.items() if (folder / marker).is_file())
    kind = next(kinds, None)
    return None if kind is None else kind(folder)


class Selection(NamedTuple):
    """Filter and order of the listed rows.

    Attributes:
        sort: column.
        descends: whether the largest comes first.
        column: that is filtered by.
        least: number that it has at least.
        most: and at most.
    """

    sort: str
    descends: bool
    column: str
    least: float = -math.inf
    most: float = math.inf

    def rows(self, rows: Sequence[Row]) -> list[int]:
        """Numbers of the rows; those without a number in the column of the order come last."""
        is_limited = self.least > -math.inf or self.most < math.inf
        runs = [
            i
            for i, row in enumerate(rows)
            if not is_limited or self.least <= _number(row[self.column]) <= self.most
        ]
        sign = -1.0 if self.descends else 1.0

        def key(i: int) -> tuple[bool, float, str]:
            value = _number(rows[i][self.sort])
            missing = math.isnan(value)
            return missing, 0.0 if missing else sign * value, rows[i][self.sort]

        return sorted(runs, key=key)


def _number(text: str) -> float:
    """The number of a cell; NaN where it has none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def columns_of(rows: Sequence[Row]) -> list[str]:
    """Columns that differ among the rows, which are worth to be sorted by."""
    return [key for key in rows[0] if len({row[key] for row in rows}) > 1] or list(rows[0])


def label_of(row: Row, columns: Sequence[str]) -> str:
    """A row's line in a list."""
    cells: dict[str, Any] = {key: row[key] for key in columns if row.get(key)}
    return ", ".join(f"{key} {_rounded(value)}" for key, value in cells.items())


def _rounded(text: str) -> str:
    value = _number(text)
    return text if math.isnan(value) else f"{value:.4g}"
