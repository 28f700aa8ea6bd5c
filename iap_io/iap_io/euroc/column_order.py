# SPDX-License-Identifier: BSD-3-Clause
"""Columns of an EuRoC folder's tables by the names above them, where others have written them in another order."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from iap_io.euroc.tables import CsvTable, read_table
from iap_io.trajectories.column_names import column_of

_RATES = set("w gyro gyr gyroscope omega angular ang".split())
_FORCES = set("a acc accel acceleration accelerometer f force linear lin".split())


@dataclass(frozen=True)
class ColumnOrder:
    """Columns that a table has, in EuRoC's order.

    Attributes:
        role: of a column by its name; None of another.
        roles: in order.
    """

    role: Callable[[str], str | None]
    roles: tuple[str, ...]


def _inertial_role(name: str) -> str | None:
    """Role of a column of an inertial unit's table: ``w_RS_S_x`` a rate, ``a_RS_S_x`` a specific force."""
    words = re.findall("[a-z]+", re.sub(r"[\[(].*", "", name).lower())
    if not words or words[-1] not in ("x", "y", "z"):
        return None
    kinds = {"w": bool(set(words[:-1]) & _RATES), "a": bool(set(words[:-1]) & _FORCES)}
    return next((kind + words[-1] for kind, is_it in kinds.items() if is_it), None)


def _pose_role(name: str) -> str | None:
    column = column_of(name)
    return None if column is None or column.body else column.role


INERTIAL = ColumnOrder(_inertial_role, ("wx", "wy", "wz", "ax", "ay", "az"))
POSES = ColumnOrder(_pose_role, ("x", "y", "z", "qw", "qx", "qy", "qz"))


def read_ordered(path: Path, count: int, order: ColumnOrder) -> CsvTable:
    """A table with so many columns at least, in EuRoC's order where the names in its first line say all of them once.

    Raises:
        BadInput: see `read_table`.
    """
    table = read_table(path, count)
    with path.open(encoding="utf-8-sig") as file:
        first = file.readline(4096)
    names = [each.strip() for each in first.lstrip("# ").split(",")][1:]
    roles = [order.role(name) for name in names[: len(order.roles)]]
    if not first.startswith("#") or sorted(map(str, roles)) != sorted(order.roles):
        return table
    if len(names) > table.values.shape[1]:
        return table
    index = [roles.index(each) for each in order.roles]
    values = table.values.copy()
    values[:, : len(index)] = table.values[:, index]
    return table._replace(values=values)
