# SPDX-License-Identifier: BSD-3-Clause
"""The tables of localisation on a terminal and in files."""

import csv
import io
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from iap_bringup.experiments.virpo_scores import Order, ranked
from iap_bringup.experiments.virpo_tables import TABLE_II, Tables
from iap_io.runs.run_folder import write_file

LEGEND = "measured (published), RMSE of the position error in m, first pose from the truth"
REMARK = (
    "The motions by hand, and those that stand for SIAP and LIAP sequences, are not the papers':"
    " theirs are not published."
)

WHY_NOT = {  # where methods rank otherwise than published
    TABLE_II: "all_kin has no r_drift and takes neighbours' errors for independent of the own ones; with the default"
    " weights it believes them more than TABLE IX's would, and what errors have in common is counted again and again"
}


def show_tables(console: Console, tables: Tables) -> None:
    """All tables, how methods rank, and what was missed."""
    for name in tables.names:
        rows = tables.pivot(name)
        table = Table("", title=name)
        columns = _columns(rows)
        for column in columns:
            table.add_column(column.replace("_", " "), justify="right", overflow="fold")
        for row, cells in rows.items():
            table.add_row(row.replace("_", " "), *(cells.get(c, "") for c in columns))
        console.print(table)
    console.print(f"{LEGEND}; gains in %. {REMARK}")
    for order in tables.orders:
        console.print(f"{order.table}, {order.group}: {_ranks(order)}")
    judged = [cell for cell in tables.cells if cell.passed is not None]
    console.print(f"{len(judged) - len(tables.missed)} of {len(judged)} bars reached")


def write_tables(folder: Path, tables: Tables, notes: str = "") -> list[Path]:
    """Write `tables.csv`, one line for each figure, and `tables.md`; returns both.

    Args:
        folder: that is there.
        tables: what to write.
        notes: Markdown that follows the tables, such as reasons of what was missed.

    Raises:
        RecordingFailed: the disk is full or cannot be written.
    """
    paths = folder / "tables.csv", folder / "tables.md"
    write_file(paths[0], as_csv(tables).encode())
    write_file(paths[1], as_markdown(tables, notes).encode())
    return list(paths)


def as_csv(tables: Tables) -> str:
    """A line for each figure, with its bar and whether that is reached."""
    text = io.StringIO()
    keys = [*asdict(tables.cells[0]), "passed"] if tables.cells else []
    writer = csv.DictWriter(text, keys, lineterminator="\n")
    writer.writeheader()
    for cell in tables.cells:
        writer.writerow({**asdict(cell), "passed": cell.passed})
    return text.getvalue()


def as_markdown(tables: Tables, notes: str = "") -> str:
    """All tables, and how methods rank."""
    lines = [f"{LEGEND}; gains in %. {REMARK}", ""]
    for name in tables.names:
        rows = tables.pivot(name)
        columns = _columns(rows)
        lines += [f"## {name}", "", f"| | {' | '.join(columns)} |"]
        lines.append(f"|---|{'---|' * len(columns)}")
        for row, cells in rows.items():
            lines.append(f"| {row} | {' | '.join(cells.get(c, '') for c in columns)} |")
        lines.append("")
    if tables.orders:
        lines += ["## How methods rank", ""]
        lines += [f"- {order.table}, {order.group}: {_ranks(order)}" for order in tables.orders]
        lines.append("")
    return "\n".join([*lines, *([notes] if notes else [])])


def _ranks(order: Order) -> str:
    paper = f"; published {ranked(order.published)}" if order.published else ""
    why = f" ({WHY_NOT[order.table]})" if order.against and order.table in WHY_NOT else ""
    return f"{ranked(order.measured)}{paper}; {order.text}{why}"


def _columns(rows: dict[str, dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(column for cells in rows.values() for column in cells))
