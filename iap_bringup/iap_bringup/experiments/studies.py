# SPDX-License-Identifier: BSD-3-Clause
"""The studies of ``iap experiment``: each measures something and shows a table."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from iap_bringup.experiments.rows import print_json, show_bars
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import counted, work_bar
from iap_bringup.terminal.tables import show_rows
from iap_description.errors import BadInput


def free_flight(console: Console, *, json: bool = False) -> None:
    """The engines with contact against the closed form of free flight, over three step sizes."""
    from iap_bringup.experiments.convergence import (
        convergence_rows,
        free_flight_convergence,
        show_convergence,
    )

    with work_bar(make_console(stderr=True)) as report:
        rows = free_flight_convergence(report)
    if json:
        print_json(console, convergence_rows(rows))
    else:
        show_convergence(console, rows)


def engines(console: Console, **options: Any) -> None:  # noqa: ANN401 - see `compare_engines`
    """Every scenario in PyBullet and MuJoCo, or in the one installed, its figures beside their bars (ten minutes)."""
    from iap_bringup.experiments.engines import compare_engines

    compare_engines(console, **options)


def rays(console: Console) -> None:
    """A picture of worlds with drawn obstacles: depth, labels and normals of a depth camera, a lidar from above."""
    from iap_bringup.experiments.rays import draw_rays

    draw_rays(console)


def films(console: Console, *, out: Path | None = None) -> None:
    """The films of README and docs, flown and rendered anew, into docs/pictures or --out (five minutes)."""
    from iap_bringup.films.documented import FOLDER, write_documented_films

    with work_bar(console) as report:
        paths = write_documented_films(out or FOLDER, report)
    for path in paths:
        console.print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def modules(
    console: Console, *, quick: bool = False, json: bool = False, out: Path | None = None
) -> None:
    """Joined modules in hover, on a lemniscate and docking, beside what is published, and bars (15 minutes)."""
    from iap_bringup.experiments.modules.study import study_modules

    study_modules(console, quick=quick, json=json, out=out)


def readme(console: Console, *, json: bool = False) -> None:
    """Figures of flights in README and docs/results beside those that their commands give (20 minutes)."""
    from iap_bringup.experiments.readme_figures import compare_readme

    compare_readme(console, as_json=json)


def soak(console: Console) -> None:
    """Flights of an hour, in one process and as ROS nodes in lockstep: memory, open files and threads meanwhile."""
    from iap_bringup.experiments.soak import as_nodes, in_process, show_soak

    for fly in (in_process, as_nodes):
        show_soak(console, fly, 3600.0)


def contact(console: Console, *, json: bool = False) -> None:
    """A platform at rest, the peg-in-hole flight over physics rates, and the wrench observer's estimates."""
    from iap_bringup.experiments import contact as contact_studies

    with work_bar(make_console(stderr=True)) as report:
        resting = contact_studies.resting(report)
        rates = contact_studies.peg_over_rates(report)
        observer = contact_studies.observer_steps(report)
    if json:
        tables = {"resting": resting, "peg_in_hole": rates, "observer": observer}
        print_json(console, tables)
        return
    show_rows(console, "three_star at rest on the ground", resting)
    show_rows(console, "peg_in_hole", rates, PEG)
    show_rows(console, "momentum observer, 0.5 s after a step of 5 N or 1 N m", observer)


def peg_in_hole(console: Console, *, json: bool = False) -> None:
    """The peg-in-hole flight with both gain presets over five seeds, each beside the same without admittance."""
    from iap_bringup.experiments.contact import peg_over_seeds

    with work_bar(make_console(stderr=True)) as report:
        results = peg_over_seeds(("default", "paper"), report)
    show_study(console, "peg_in_hole by preset and seed", results, (*PEG, "push_ratio"), json=json)


def landing(console: Console, *, quick: bool = False, json: bool = False) -> None:
    """Landings of every platform and of joined modules, in PyBullet and MuJoCo, beside what they must reach."""
    from iap_bringup.experiments.landing import COLUMNS, landings

    with work_bar(make_console(stderr=True)) as report:
        rows = landings(report, quick=quick)
    show_study(console, "landings", rows, COLUMNS, json=json)


def identification(console: Console, *, quick: bool = False, json: bool = False) -> None:
    """Rotorcraft of drawn masses, thrusts and lags, identified from a minute's flight, calm and in gusts (an hour)."""
    from iap_bringup.experiments.identification import identification_rows

    with work_bar(make_console(stderr=True)) as report:
        rows = identification_rows(report, quick=quick)
    show_study(console, "identification_flight", rows, json=json)


def flight_logs(console: Console, *, logs: Path | None = None, json: bool = False) -> None:
    """Real flight logs in --logs, each identified and predicted, beside what is simpler (minutes)."""
    from iap_bringup.experiments.flight_logs import flight_log_rows

    if logs is None or not logs.is_dir():
        raise BadInput("experiment flight_logs: --logs DIR is the folder of the logs")
    with work_bar(make_console(stderr=True)) as report:
        rows = flight_log_rows(logs, report)
    show_study(console, "flight logs", rows, json=json)


def firmware(
    console: Console, *, quick: bool = False, firmware: Path | None = None, json: bool = False
) -> None:
    """Flights by Betaflight in lockstep, alone and under three_star, each twice, beside their bars (eight minutes)."""
    from iap_bringup.experiments.firmware import beside_others, firmware_bars, firmware_of

    settings = None if firmware is None else firmware_of(firmware)
    with work_bar(make_console(stderr=True)) as report:
        bars = firmware_bars(report, quick=quick, firmware=settings)
        bars = [*bars, *beside_others(report, quick=quick, firmware=settings)]
    show_bars(console, bars, as_json=json)


def sensors(console: Console, *, json: bool = False) -> None:
    """Inertial units, attitude, stamps, projection, stereo and corners, each beside its bar."""
    from iap_bringup.experiments import images as image_studies
    from iap_bringup.experiments import sensors as sensor_studies
    from iap_sensors.cameras.make import make_renderer

    renderer = make_renderer("opengl")
    inertial = (sensor_studies.noise, sensor_studies.dead_reckoning, sensor_studies.attitude)
    with_images = (
        sensor_studies.stamps,
        image_studies.projection,
        image_studies.stereo,
        image_studies.features,
    )
    try:
        with work_bar(make_console(stderr=True)) as report:
            count = len(inertial) + len(with_images)
            tables = list[dict[str, Any]]()
            for study in inertial:
                report(f"{len(tables)} of {count}: {study.__name__}")
                tables.append(study(report))
            for study_of_images in with_images:
                report(f"{len(tables)} of {count}: {study_of_images.__name__}")
                tables.append(study_of_images(report, renderer))
    finally:
        renderer.close()
    rows = {key: row for table in tables for key, row in table.items()}
    show_study(console, "sensors", rows, json=json)


def photometry(console: Console, *, json: bool = False) -> None:
    """Physical light beside traced paths in three scenes, and depths and labels of renderers and rays in all."""
    from iap_bringup.experiments.photometry import photometry as measured

    with work_bar(make_console(stderr=True)) as report:
        bars = measured(report)
    show_bars(console, bars, as_json=json)


def cameras(console: Console, *, json: bool = False) -> None:
    """Camera effects: photon transfer, linearity, automatic exposure, rolling shutter and lenses beside their bars."""
    from iap_bringup.experiments.camera_effects import camera_bars
    from iap_sensors.cameras.make import make_renderer

    renderer = make_renderer("opengl")
    try:
        with work_bar(make_console(stderr=True)) as report:
            bars = camera_bars(report, renderer)
    finally:
        renderer.close()
    show_bars(console, bars, as_json=json)


def tasks(console: Console, *, json: bool = False) -> None:
    """Every task without learning: no action, random ones, the suite's controller, a potential field."""
    from iap_learning.evaluation.baselines import baselines
    from iap_learning.tasks.task import TASKS

    tables = {}
    with work_bar(make_console(stderr=True)) as report:
        for name in counted(report, TASKS.names()):
            scores = baselines(name, TASK_WORLDS)
            tables[name] = {policy: score.row for policy, score in scores.items()}
    if json:
        print_json(console, tables)
        return
    for name, rows in tables.items():
        show_rows(console, name, rows)


def docking(console: Console, *, quick: bool = False, json: bool = False) -> None:
    """The hard docking by script and policy: commands late by times drawn, by each, and in the engines (10 minutes)."""
    from iap_bringup.experiments.docking import QUICK, Sizes, docking_bars, docking_rows

    with work_bar(make_console(stderr=True)) as report:
        rows = docking_rows(QUICK if quick else Sizes(), report)
    bars = list(docking_bars(rows))
    if json:
        print_json(console, {**rows, "bars": [bar.figures for bar in bars]})
        return
    show_rows(console, "docking_hard", rows)
    show_bars(console, bars, as_json=False)


def virpo_tables(console: Console, **options: Any) -> None:  # noqa: ANN401 - see `run_tables`
    """Localisation in all scenes, by program and scripted pilot, each method beside what is published (an hour)."""
    from iap_bringup.experiments.virpo.study import run_tables

    _localize(run_tables, console, **options)


def virpo_faults(console: Console, *, quick: bool = False) -> None:
    """Localisation with outliers, darkness, delays, dropouts and lost images, each beside the clean flight."""
    from iap_bringup.experiments.virpo.faults import run_faults

    run_faults(console, quick=quick)


def virpo_units(console: Console, **options: Any) -> None:  # noqa: ANN401 - see `run_units`
    """Localisation on inertial units without and with errors of scale: errors, and whether covariances know them."""
    from iap_bringup.experiments.virpo.units import run_units

    _localize(run_units, console, **options)


def virpo_light(console: Console, **options: Any) -> None:  # noqa: ANN401 - see `run_light`
    """Localisation by day, at dusk and at night, in glare, rain and dust, by a real camera's preset (half an hour)."""
    from iap_bringup.experiments.virpo.light import run_light

    _localize(run_light, console, **options)


def virpo_zed(console: Console, **options: Any) -> None:  # noqa: ANN401 - see `run_zed`
    """Localisation with the sensors of virpo's data set, beside the errors of its TABLE I (half an hour)."""
    from iap_bringup.experiments.virpo.zed import run_zed

    _localize(run_zed, console, **options)


def _localize(
    run: Callable[..., Any],
    console: Console,
    *,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - as each study has them
) -> None:
    """Run a study of localisation; as JSON its figures are printed alone, all else on standard error."""
    made = run(make_console(stderr=True) if json else console, **options)
    if json:
        print_json(console, made.tree)


def show_study(
    console: Console,
    title: str,
    rows: dict[str, dict[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    json: bool,
) -> None:
    """Print a study's rows as a table, or as one line of JSON."""
    if json:
        print_json(console, rows)
    else:
        show_rows(console, title, rows, columns)


TASK_WORLDS = 256  # in which each baseline is scored
PEG = (
    "outcome",
    "depth_m",
    "bore_offset_m",
    "settled_pitch_deg",
    "pitch_command_std_deg",
    "force_max_n",
    "force_steady_n",
)
