# SPDX-License-Identifier: BSD-3-Clause
"""`iap experiment virpo_units`: errors and consistency on inertial units without and with errors of scale.

Every motion is flown with preset `stereo` (imu: paper, clean images) and with `stereo_wide` (imu: euroc, wide lenses,
noise and blur), and estimated by all methods in their default settings, with the noise of several seeds in inertial
units and tags; tracks are those of the first seed. `--since` and `--seconds` take a part of recorded commands, such as
the fast one of V2_03.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.piloted_flights import recordings
from iap_bringup.experiments.virpo.cases import LocalizationCase, LocalizationStudy
from iap_bringup.experiments.virpo.scores import (
    EstimateResults,
    Figure,
    TableCell,
    Tables,
    mean_of,
)
from iap_bringup.experiments.virpo.study import run_and_show
from iap_bringup.experiments.virpo.tables import ATTITUDE, MAX_NEES, POSITION
from iap_description.errors import BadInput
from iap_io.euroc.cut_recording import cut
from iap_io.runs.run_folder import create_run_folder

UNITS = {"paper": ("stereo", "default"), "euroc": ("stereo_wide", "euroc")}  # sensors, front end
ALONE, JOINED = ("vio", "vio_uwb"), ("vio", "vio_uwb", "virpo", "joint", "drift_filter")
WINDOWS = ("vio", "vio_uwb", "virpo", "joint")  # methods whose covariances are judged
FLEETS = (
    ("f450", ALONE, ("drone_1",)),
    ("three_star", JOINED, ("drone_1", "drone_2", "drone_3", "center")),
)
SCENE = "textured_walls"
SEEDS = (1, 2, 3, 4, 5)
SECONDS, QUICK_SECONDS = 36.0, 4.0  # of a flight at most
CENTRE_DEG = 0.4  # what `joint` may err by at the central body with unit `euroc` [deg]
TABLES: dict[str, tuple[Figure, str]] = {
    POSITION: ("ate", "m"),
    ATTITUDE: ("attitude", "deg"),
    "NEES of the position": ("nees", ""),
    "NEES of the attitude": ("attitude_nees", ""),
}


def run_units(
    console: Console,
    *,
    quick: bool = False,
    flights: Path | None = None,
    out: Path | None = None,
    since: float = 0.0,
    seconds: float | None = None,
) -> Tables:
    """Fly, estimate, judge, and write everything down; returns the tables.

    Args:
        console: shows the tables.
        quick: less of it, in minutes.
        flights: folder of recordings in place of the figure-eight.
        out: new folder for the results; None is the next free one in ``runs``.
        since: begin of the part of these recordings that is flown [s].
        seconds: of a flight at most; None is as the study has it.

    Raises:
        BadInput: the recordings or the folder cannot be used.
    """
    if flights is None and (since != 0.0 or seconds is not None):
        raise BadInput("--since and --seconds are for virpo_units with --flights")
    if since < 0.0 or (seconds is not None and not seconds > 0.0):
        raise BadInput("--since: not below 0; --seconds: above 0")
    paths = None if flights is None else recordings(flights)
    folder = create_run_folder(out, "virpo_units")
    if paths is not None and since > 0.0:
        paths = [cut(each, since, folder) for each in paths]
    what = units_study(paths, seconds, quick=quick)
    return run_and_show(console, what, folder, lambda scores: units_tables(scores, what))


def units_study(
    flights: Sequence[Path] | None = None, seconds: float | None = None, *, quick: bool = False
) -> LocalizationStudy:
    """A figure-eight of one quadrotor and of three_star, or recorded commands flown by both, on every unit.

    Args:
        flights: recordings of these commands.
        seconds: of a flight at most.
        quick: less of it.
    """
    sources: Sequence[str | Path] = ["figure_eight"] if flights is None else flights
    seconds = seconds or (QUICK_SECONDS if quick else SECONDS)
    cases = [
        replace(
            case,
            name=f"{case.name}, {unit}",
            title=f"{case.title}, {unit}",
            sensors=sensors,
            frontend=frontend,
        )
        for source in sources
        for case in _both(source, seconds)
        for unit, (sensors, frontend) in UNITS.items()
    ]
    return LocalizationStudy(tuple(cases), SEEDS[:1] if quick else SEEDS)


def _both(source: str | Path, seconds: float) -> list[LocalizationCase]:
    """A motion of one quadrotor, and of three_star."""
    name = Path(source).stem
    return [
        LocalizationCase(
            f"{name} {platform}",
            f"{name}, {platform}",
            source,
            SCENE,
            methods,
            bodies,
            platform=platform,
            duration=seconds,
        )
        for platform, methods, bodies in FLEETS
    ]


def units_tables(results: EstimateResults, study: LocalizationStudy) -> Tables:
    """All figures; those of consistency beside their bars."""
    cells = []
    for table, (figure, unit) in TABLES.items():
        for case, row, names, method in study.rows():
            mean = mean_of(results, case.name, method, names, figure)
            cells.append(TableCell(table, row, method, *mean, unit=unit))
    return Tables(tuple(map(_with_bar, cells)), ())


def _with_bar(cell: TableCell) -> TableCell:
    """NEES may be off one by a factor, either way: the bar is the one that is nearer to what was measured."""
    if cell.unit == "deg" and cell.method == "joint" and cell.row.endswith("euroc: center"):
        return replace(cell, bar=CENTRE_DEG)
    if cell.unit or cell.method not in WINDOWS:
        return cell
    is_low = cell.measured is not None and cell.measured < 1.0
    return replace(cell, bar=1.0 / MAX_NEES if is_low else MAX_NEES, at_least=is_low)
