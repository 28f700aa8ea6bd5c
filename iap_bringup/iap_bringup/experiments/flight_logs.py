# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment flight_logs``: real logs of a folder, each identified and predicted.

A model is fitted to the first 70 % of each flight and predicts the rest, see `iap_simulation.identification`. Its
errors are relative to those of an attitude that stays, of a body rate that is held, and of a velocity that stays.
Signals against each other are those of `iap_io.flight_logs.frame_checks`.
"""

from collections.abc import Iterator
from pathlib import Path

from iap_bringup.experiments.rows import Report, Rows
from iap_description.errors import BadInput
from iap_io.flight_logs.inspection import Inspection
from iap_io.trajectories.logged_bags import open_any
from iap_simulation.identification.rotorcraft.log_checks import checked_log
from iap_simulation.identification.rotorcraft.prediction import Horizon
from iap_simulation.identification.rotorcraft.rotorcraft import identify_rotorcraft

SUFFIXES = {".ulg", ".ulog", ".bin", ".bbl", ".bfl", ".txt", ".bag", ".mcap", ".csv", ""}
SOON, LATER = 0.1, 1.0  # of predictions [s]
STAYS_BAR, HELD_BAR = 80.0, 50.0  # least shares of flying logs that are predicted better [%]
STAYS, HELD = "attitude 0.1 s / stays", "attitude 0.1 s / rate held"
VELOCITY = "velocity 1 s / stays"


def flight_log_rows(folder: Path, report: Report) -> Rows:
    """Figures of each log, and the shares of them in which the model is better.

    Args:
        folder: of logs, also in folders within.
        report: called with the number of every log.

    Raises:
        BadInput: there is no log in the folder.
    """
    paths = sorted(path for path in folder.rglob("*") if _may_be(path))
    if not paths:
        raise BadInput(f"--logs {folder}: no flight log in it, by the names' ends")
    rows: Rows = {}
    for number, path in enumerate(paths):
        report(f"{number} of {len(paths)}: {path.name}")
        try:
            rows[path.name] = _row(path)
        except BadInput as error:
            rows[path.name] = {"refused": str(error).removeprefix(f"{path}: ")}
    return rows | dict(_shares(rows))


def _may_be(path: Path) -> bool:
    return path.is_file() and path.suffix.lower() in SUFFIXES


def _row(path: Path) -> dict[str, str | float | None]:
    """Figures of one log.

    Raises:
        BadInput: it cannot be read, or identified as a whole.
    """
    log = open_any(path)
    check = Inspection.of(log).check
    row: dict[str, str | float | None] = {
        "position, velocity m/s": check.velocity,
        "attitude, rates rad/s": check.rates,
        "frames": check.verdict,
    }
    try:
        model = identify_rotorcraft([checked_log(log)], [])
    except BadInput as error:
        return {**row, "refused": str(error).removeprefix(f"{path}: ")}
    (horizons,) = model.held_out.values()
    return {**row, **dict(_ratios(horizons))}


def _ratios(horizons: list[Horizon]) -> Iterator[tuple[str, float]]:
    for each in horizons:
        model, stays, rate_held = each.attitude_deg
        if each.seconds == SOON:
            yield STAYS, model / stays
            yield HELD, model / rate_held
        if each.seconds == LATER and each.velocity[1] > 0.0:
            yield VELOCITY, each.velocity[0] / each.velocity[1]


def _shares(rows: Rows) -> Iterator[tuple[str, dict[str, str | float | None]]]:
    """Shares of the predicted logs in which the model is better, beside their bars."""
    for name, bar in ((STAYS, STAYS_BAR), (HELD, HELD_BAR)):
        ratios = [row[name] for row in rows.values() if name in row]
        better = sum(isinstance(each, float) and each < 1.0 for each in ratios)
        if ratios:
            share = 100.0 * better / len(ratios)
            yield (
                f"better: {name}",
                {"logs": f"{better} of {len(ratios)}", "share_pct": share, "bar_pct": bar},
            )
