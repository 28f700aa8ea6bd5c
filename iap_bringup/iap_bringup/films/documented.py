# SPDX-License-Identifier: BSD-3-Clause
"""The films that README and docs show."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from iap_bringup.films.film import FilmSettings, write_film
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.source import RunSource
from iap_simulation.runs.run import record

FOLDER = Path("docs/pictures")  # of a checkout
SUFFIX = ".webp"  # GitHub shows it as it shows images
MAX_BYTES = 1_000_000  # of a file
SETTINGS = FilmSettings(rate=12.5, size=(480, 270))

FILMS: dict[str, FilmSettings] = {  # by scenarios
    "three_star_spiral": replace(SETTINGS, begin=5.0, end=35.0, speed=4.0),
    "module_assembly": replace(SETTINGS, begin=8.0, end=84.0, speed=10.0),
    "docking": SETTINGS,
    "arm_pick": replace(SETTINGS, end=21.0, speed=3.0),
    "wall_push": replace(SETTINGS, begin=4.0, end=16.0, speed=2.0),
}


def write_documented_films(folder: Path, report: Callable[[str], None]) -> list[Path]:
    """Fly and film all of them.

    Args:
        folder: that takes the films.
        report: called with the name of each scenario.

    Returns:
        The films.
    """
    folder.mkdir(parents=True, exist_ok=True)
    films = []
    for number, (name, settings) in enumerate(FILMS.items()):
        report(f"{number} of {len(FILMS)}: {name}")
        with tempfile.TemporaryDirectory() as run:
            source = RunSource(RecordedRun(record(name, folder=Path(run) / name).folder))
            films.append(folder / f"{name}{SUFFIX}")
            write_film(source, films[-1], settings, lambda _: None)
    return films
