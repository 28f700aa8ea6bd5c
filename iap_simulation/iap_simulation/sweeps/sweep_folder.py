# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a sweep: what it flies, the parts that are done, and the table of all runs.

Its files::

    study.yaml  parts/NAME.json  table.csv  summary.json  plots/*.png  runs/NAME_SEED (of a data set)
"""

import csv
import io
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from iap_description.config.json_files import read_json
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, validate
from iap_description.config.values import Real
from iap_description.errors import BadInput
from iap_io.runs.run_folder import create_run_folder, write_file
from iap_simulation.sweeps.flying import Row
from iap_simulation.sweeps.study import Study, SweepPoint

STUDY, PARTS, TABLE, SUMMARY = "study.yaml", "parts", "table.csv", "summary.json"
RUNS = "runs"


class DoneRun(BaseModel):
    """A row of a part, with any other metrics.

    Attributes:
        seed: of the run.
        outcome: what became of it.
        failure: the sentence for the user; empty where it completed.
        position_rmse_m: error of the position [m].
        force_max_n: largest force of contact [N].
        depth_m: of an insertion [m].
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    seed: Annotated[int, Field(strict=True)]
    outcome: str
    failure: str
    position_rmse_m: Real | None = None
    force_max_n: Real | None = None
    depth_m: Real | None = None


class DonePart(Record):
    """Content of the file of a part.

    Attributes:
        runs: its rows.
    """

    runs: list[DoneRun]


class SweepFolder:
    """A folder that a sweep fills; what is there already is not flown again.

    Args:
        path: of the folder.

    Attributes:
        path: of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def open(
        cls,
        out: Path | None,
        study: Study,
        points: Sequence[SweepPoint],
        base: Path = Path("sweeps"),
    ) -> "SweepFolder":
        """A new folder, by default the next one in `base`, or the one of the same study to go on with.

        Raises:
            BadInput: `out` belongs to something else, or cannot be made.
        """
        tree = study_tree(study, points)
        if out is None or not (out / STUDY).exists():
            name = str(points[0].tree["scenario"])
            folder = cls(create_run_folder(out, name, base=base))
            (folder.path / PARTS).mkdir()
            write_file(folder.path / STUDY, yaml.safe_dump(tree, sort_keys=False).encode())
            return folder
        if read_yaml(out / STUDY) != json.loads(json.dumps(tree)):
            raise BadInput(f"--out {out}: holds another sweep, see {STUDY} there")
        return cls(out)

    @property
    def runs(self) -> Path:
        """Folder in which recordings are kept."""
        return Path(os.path.realpath(self.path / RUNS))

    def remove_unused(self) -> None:
        """Remove the folder unless it has a part."""
        if not any((self.path / PARTS).glob("*.json")):
            shutil.rmtree(self.path)

    def has(self, name: str) -> bool:
        """True if a part is done."""
        return self._part(name).exists()

    def add(self, name: str, rows: Sequence[Row]) -> None:
        """Keep a part: it is there as a whole or not at all.

        Raises:
            RecordingFailed: it cannot be written.
        """
        write_file(self._part(name), json.dumps(rows, allow_nan=False).encode())

    def rows(self, name: str, seeds: Sequence[int]) -> list[Row]:
        """The rows of a part that is done, one for each of its seeds.

        Raises:
            BadInput: the file is damaged.
        """
        try:
            rows: list[Row] = read_json(self._part(name))
            part = validate(DonePart, {"runs": rows}, source=str(self._part(name)))
        except BadInput as error:
            raise BadInput(f"{error}; remove it to fly it again") from error
        if [row.seed for row in part.runs] != list(seeds):
            raise BadInput(
                f"{self._part(name)}: not the runs of {len(seeds)} seeds from {seeds[0]} on;"
                " remove it to fly it again"
            )
        return rows

    def write_table(self, rows: Iterable[dict[str, Any]]) -> Path:
        """Write the table: a line for each run, in columns whatever any of them has."""
        flat = [flattened(row) for row in rows]
        names = list(dict.fromkeys(name for row in flat for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)
        write_file(self.path / TABLE, text.getvalue().encode())
        return self.path / TABLE

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write what ``--json`` prints, the last file of a whole sweep."""
        write_file(self.path / SUMMARY, (json.dumps(summary) + "\n").encode())

    def _part(self, name: str) -> Path:
        return self.path / PARTS / f"{name}.json"


def study_tree(study: Study, points: Sequence[SweepPoint]) -> dict[str, Any]:
    """Contents of study.yaml: the sweep, and the resolved configuration of its first combination."""
    return {
        "scenario": study.scenario,
        "vary": {axis.key: list(axis.values) for axis in study.axes},
        "seeds": study.seeds,
        "first_seed": study.first_seed,
        "records": study.records,
        "first_run": {**points[0].tree, "seed": study.first_seed},
    }


def flattened(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A tree as one row: keys joined by dots, items of lists by their numbers; None is an empty cell."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, list):
            value = dict(zip(map(str, range(len(value))), value, strict=True))
        if isinstance(value, dict):
            out |= flattened(value, f"{name}.")
        else:
            out[name] = value
    return out
