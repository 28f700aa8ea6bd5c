# SPDX-License-Identifier: BSD-3-Clause
"""`iap experiment virpo_zed`: localisation with the sensors of virpo II-B, beside the errors of its TABLE I.

Three aircraft around a star and three and two in a line fly figure-eights through a hall with the set `stereo_zed`: a
ZED on every aircraft, an autopilot's inertial unit on every body, and ranges of 0.05 m at 40 Hz. The paper's motions
and anchors are not published, so that these flights stand for its sequences SIAP-1 to 4, LIAP-1 and LIAP-2.
"""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from iap_bringup.experiments.virpo.cases import LocalizationCase, LocalizationStudy
from iap_bringup.experiments.virpo.published import PublishedTables
from iap_bringup.experiments.virpo.scores import EstimateResults, TableCell, Tables, mean_of
from iap_bringup.experiments.virpo.study import run_beside_published

SENSORS, FRONTEND, SCENE = "stereo_zed", "euroc", "furnished_hall"
METHODS = ("vio", "vio_uwb", "self_phy", "virpo", "joint")
WITH_BAR = ("vio_uwb", "self_phy", "virpo")
SECONDS, QUICK_SECONDS = 40.0, 8.0
SEEDS = (1,)
TITLE = "virpo TABLE I by its sensors, RMSE in m"
THREE = ("drone_1", "drone_2", "drone_3", "center")
FLIGHTS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # scenario, and bodies
    "SIAP": ("figure_eight", THREE),
    "LIAP-1": ("three_line_figure_eight", THREE),
    "LIAP-2": ("two_line_figure_eight", ("drone_1", "drone_2", "center")),
}
SEQUENCES: Mapping[str, tuple[str, ...]] = {  # of the paper, for which a flight stands
    "SIAP": ("SIAP-1", "SIAP-2", "SIAP-3", "SIAP-4"),
    "LIAP-1": ("LIAP-1",),
    "LIAP-2": ("LIAP-2",),
}


def run_zed(console: Console, *, quick: bool = False, out: Path | None = None) -> Tables:
    """Fly, estimate, judge, and write everything down; returns the tables.

    Args:
        console: shows the table.
        quick: one flight of eight seconds.
        out: new folder for the results; None is the next free one in ``runs``.

    Raises:
        BadInput: the folder cannot be used.
    """
    return run_beside_published(console, "virpo_zed", zed_study(quick=quick), zed_tables, out)


def zed_study(*, quick: bool = False) -> LocalizationStudy:
    """The flights of `FLIGHTS`."""
    cases = [
        LocalizationCase(
            name,
            f"{scenario.replace('_', ' ')}, {SCENE.replace('_', ' ')}, ZED",
            scenario,
            SCENE,
            METHODS,
            bodies,
            duration=QUICK_SECONDS if quick else SECONDS,
            sensors=SENSORS,
            frontend=FRONTEND,
            settings=("renderer=physical",),
        )
        for name, (scenario, bodies) in FLIGHTS.items()
    ]
    return LocalizationStudy(tuple(cases[:1] if quick else cases), SEEDS)


def zed_tables(
    results: EstimateResults, study: LocalizationStudy, papers: PublishedTables
) -> Tables:
    """Mean errors over the aircraft of each flight, beside those of the sequences that it stands for."""
    cells = []
    for case, row, names, method in study.rows():
        mean = mean_of(results, case.name, method, names)
        known = papers.mean_error("neighbours", SEQUENCES[case.name], names, method)
        bar = known if method in WITH_BAR else None
        cells.append(TableCell(TITLE, row, method, *mean, known, bar))
    return Tables(tuple(cells), ())
