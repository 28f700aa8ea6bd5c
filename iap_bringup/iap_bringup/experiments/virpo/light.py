# SPDX-License-Identifier: BSD-3-Clause
"""`iap experiment virpo_light`: localisation by day, at dusk and at night, in glare, rain, dust and among bare walls.

A figure-eight of three_star is seen by the stereo pairs of a real camera (`stereo_mt9v034`: its lens, exposure, noise
and automatic exposure), once in the fast renderer and once in physical light for each condition. Inertial units have
errors of scale. Estimates that fail are counted.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from iap_bringup.experiments.virpo.cases import LocalizationCase, LocalizationStudy
from iap_bringup.experiments.virpo.published import PublishedTables
from iap_bringup.experiments.virpo.scores import (
    EstimateResults,
    TableCell,
    Tables,
    mean_of,
)
from iap_bringup.experiments.virpo.study import run_beside_published

SENSORS, FRONTEND = "stereo_mt9v034", "euroc"
METHODS = ("vio", "vio_uwb", "joint")
SECONDS, QUICK_SECONDS = 40.0, 8.0
DIVERGED = 0.5  # error from which `joint` has diverged [m]
TITLE = "light and weather, RMSE in m"
LIKE_PUBLISHED = {"day": ("a1",)}  # conditions, and published flights that they stand for


class Condition(NamedTuple):
    """A scene, and its light and weather as settings."""

    scene: str
    settings: tuple[str, ...] = ("renderer=physical",)


def _by_hour(hour: float, *further: str) -> tuple[str, ...]:
    return (
        "renderer=physical",
        f"world.time_of_day={{hour: {hour}, latitude_deg: 48, day: 172}}",
        *further,
    )


CONDITIONS: Mapping[str, Condition] = {
    "fast renderer": Condition("building_cluster", ()),
    "day": Condition("building_cluster", _by_hour(13.0)),
    "dusk": Condition("building_cluster", _by_hour(20.2)),
    "night": Condition("night_station"),
    "glare": Condition("glare"),
    "rain": Condition(
        "building_cluster", _by_hour(13.0, "world.weather={rain: 10, clouds: 1, visibility: 400}")
    ),
    "dust": Condition("building_cluster", _by_hour(13.0, "world.weather={dust: 500}")),
    "low texture": Condition("low_texture"),
}
QUICK = ("day", "rain")


def run_light(console: Console, *, quick: bool = False, out: Path | None = None) -> Tables:
    """Fly, estimate, judge, and write everything down; returns the tables.

    Args:
        console: shows the table.
        quick: less of it, in minutes.
        out: new folder for the results; None is the next free one in ``runs``.

    Raises:
        BadInput: the folder cannot be used.
    """
    return run_beside_published(
        console, "virpo_light", light_study(quick=quick), light_tables, out
    )


def light_study(*, quick: bool = False) -> LocalizationStudy:
    """The figure-eight in every condition."""
    cases = [
        LocalizationCase(
            name,
            f"figure-eight, {name}",
            "figure_eight",
            condition.scene,
            METHODS,
            platform="three_star",
            duration=QUICK_SECONDS if quick else SECONDS,
            sensors=SENSORS,
            frontend=FRONTEND,
            settings=condition.settings,
        )
        for name, condition in CONDITIONS.items()
        if not quick or name in QUICK
    ]
    return LocalizationStudy(tuple(cases), (1,))


def light_tables(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> Tables:
    """Errors of each condition: by day beside the published ones, and whether `joint` has diverged."""
    cells = []
    for case, row, names, method in study.rows():
        mean = mean_of(results, case.name, method, names)
        known = papers.mean_error("scenes", LIKE_PUBLISHED.get(case.name, ()), names, method)
        bar = DIVERGED if method == "joint" else known if method == "vio" else None
        cells.append(TableCell(TITLE, row, method, *mean, known, bar))
    return Tables(tuple(cells), ())
