# SPDX-License-Identifier: BSD-3-Clause
"""The study ``iap experiment tasks``: every task without learning."""

from rich.console import Console
from rich.table import Table

from iap_learning.evaluation.baselines import Score, baselines
from iap_learning.tasks.files import TASKS

WORLDS = 256


def tasks(console: Console) -> None:
    """Every task without learning: no action, random ones, the suite's controller, a potential field."""
    for name in TASKS.names():
        console.print(_table(name, baselines(name, WORLDS)))


def _table(task: str, scores: dict[str, Score]) -> Table:
    rows = {policy: score.row for policy, score in scores.items()}
    table = Table("", title=task)
    for key in next(iter(rows.values())):
        table.add_column(key.replace("_", " "), justify="right")
    for policy, row in rows.items():
        table.add_row(policy, *(f"{value:.3f}" for value in row.values()))
    return table
