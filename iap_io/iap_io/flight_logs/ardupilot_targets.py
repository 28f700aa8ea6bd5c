# SPDX-License-Identifier: BSD-3-Clause
"""Tables that ArduPilot's releases spread over several messages: set-points before release 4.1, and speeds of motors.

`NTUN` (to 3.6) has horizontal targets in cm, beside the desired height and climb of `CTUN` [m], [cm/s]. `PSC` and
`PSCZ` (4.0) have them in m. Targets of mode Guided (`GUID`, `GUIP`) are in cm, with z upwards.
"""

from collections.abc import Mapping

import numpy as np

from iap_description.arrays import Array
from iap_io.flight_logs.log_tables import LogTable, Tables

CM = 0.01
GUIDED = ("GUID", "GUIP")
MOTOR_FUNCTIONS = {
    **{33 + i: i for i in range(8)},
    **{82 + i: 8 + i for i in range(4)},
}  # SERVOn_FUNCTION
MOST_CONTROLLERS = 16
Columns = Mapping[str, Array]


def old_targets(tables: Tables) -> dict[str, list[LogTable]]:
    """Tables ``NTUN``, ``PSC4`` and ``GUID`` with set-points ``DPN``, ... and ``DVN``, ... [m], [m/s], downwards."""
    found = {}
    for name, make in (("NTUN", _of_ntun), ("PSC4", _of_psc), ("GUID", _of_guided)):
        table = make(tables)
        if table is not None:
            found[name] = [table]
    return found


def _first(tables: Tables, *choice: str) -> LogTable | None:
    return next((tables[name][0] for name in choice if tables.get(name)), None)


def _of_ntun(tables: Tables) -> LogTable | None:
    flat, height = _first(tables, "NTUN"), _first(tables, "CTUN")
    needs = ("DPosX", "DPosY", "DVelX", "DVelY")
    if flat is None or height is None or any(each not in flat.columns for each in needs):
        return None
    if not {"DAlt", "DCRt"} <= height.columns.keys():
        return None
    pn, pe, vn, ve = (CM * flat.columns[each] for each in needs)
    down = (-1.0 * height.columns["DAlt"], -CM * height.columns["DCRt"])
    pd, vd = (_latest(flat.t, height.t, each) for each in down)
    return LogTable("NTUN", flat.t, _columns((pn, pe, pd), (vn, ve, vd)))


def _of_psc(tables: Tables) -> LogTable | None:
    flat, height = _first(tables, "PSC"), _first(tables, "PSCZ")
    needs = ("TPX", "TPY", "TVX", "TVY")
    if flat is None or height is None or any(each not in flat.columns for each in needs):
        return None
    if not {"TPZ", "TVZ"} <= height.columns.keys():
        return None
    pn, pe, vn, ve = (flat.columns[each].astype(float) for each in needs)
    pd, vd = (_latest(flat.t, height.t, -1.0 * height.columns[each]) for each in ("TPZ", "TVZ"))
    return LogTable("PSC", flat.t, _columns((pn, pe, pd), (vn, ve, vd)))


def _of_guided(tables: Tables) -> LogTable | None:
    table = _first(tables, *GUIDED)
    needs = ("pX", "pY", "pZ", "vX", "vY", "vZ")
    if table is None or any(each not in table.columns for each in needs):
        return None
    p, v = (
        CM * np.stack([table.columns[each] for each in part]) for part in (needs[:3], needs[3:])
    )
    p[2], v[2] = -p[2], -v[2]
    given, driven = p.any(axis=0), v.any(axis=0)  # what is not controlled is written as zeros
    p[:, ~given] = np.nan
    v[:, given & ~driven] = np.nan
    return LogTable(table.name, table.t, _columns(tuple(p), tuple(v)))


def _columns(p: tuple[Array, ...], v: tuple[Array, ...]) -> dict[str, Array]:
    names = [f"D{what}{axis}" for what in "PV" for axis in "NED"]
    return dict(zip(names, (*p, *v), strict=True))


def _latest(t: Array, times: Array, values: Array) -> Array:
    """The latest value before each time."""
    rows = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1)
    return np.asarray(values[rows], dtype=float)


def speeds_of_motors(tables: Tables, parameters: Mapping[str, float]) -> dict[str, list[LogTable]]:
    """One table ``ESC`` of the speeds of all controllers, ``speed[0]``, ... by motor, at the times of the first.

    A controller's number is that of its output, whose function names the motor. Where not all do, their order counts.
    """
    named = [tables[f"ESC{i}"][0] for i in range(1, MOST_CONTROLLERS + 1) if tables.get(f"ESC{i}")]
    numbered = {_number_of(each, i): each for i, each in enumerate(tables.get("ESC", named))}
    found = {i: each for i, each in numbered.items() if "RPM" in each.columns}
    if not found:
        return {}
    functions = {i: int(parameters.get(f"SERVO{i + 1}_FUNCTION", 0.0)) for i in found}
    motors = {i: MOTOR_FUNCTIONS.get(each, -1) for i, each in functions.items()}
    if min(motors.values()) < 0 or len(set(motors.values())) < len(motors):
        motors = {i: k for k, i in enumerate(found)}
    first = next(iter(found.values()))
    columns = {
        f"speed[{motor}]": np.interp(first.t, found[i].t, found[i].columns["RPM"].astype(float))
        for i, motor in sorted(motors.items(), key=lambda item: item[1])
    }
    return {"ESC": [LogTable("ESC", first.t, columns)]}


def _number_of(table: LogTable, order: int) -> int:
    """Number of a controller, or else its place in the list."""
    numbers = next((table.columns[x] for x in ("Instance", "I") if x in table.columns), None)
    return order if numbers is None or not len(numbers) else int(numbers[0])
