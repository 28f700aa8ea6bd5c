# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap list``: a table of kinds, each with the names that it has and a sentence for each."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from iap_bringup.terminal.console import make_console
from iap_description.config.presets import Presets

Rows = list[tuple[str, str]]


class NameKind(NamedTuple):
    """Things that are listed.

    Attributes:
        rows: makes their names and a sentence for each, or an empty one.
        use: how one is typed.
        note: below the table.
    """

    rows: Callable[[], Rows]
    use: str
    note: str = ""


def list_all(options: argparse.Namespace) -> int:
    """Show the names of all kinds, or of some, or one platform."""
    console = make_console()
    if options.platform is not None:
        from iap_bringup.terminal.platform_sheet import show_platform

        show_platform(options.platform, console)
        return 0
    kinds = {name: kind for name, kind in KINDS.items() if name in (options.kinds or KINDS)}
    if options.json:
        tree = {name: dict(kind.rows()) for name, kind in kinds.items()}
        sys.stdout.write(json.dumps(tree) + "\n")
        return 0
    for name, kind in kinds.items():
        _show(console, name, kind)
    return 0


def _show(console: Console, name: str, kind: NameKind) -> None:
    rows = kind.rows()
    console.print(
        f"[bold]{name.capitalize()}[/]: [dim]{kind.use}[/]", highlight=False, markup=True
    )
    if any(text for _, text in rows):
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        for each, text in rows:
            table.add_row(f"  {each}", text)
        console.print(table)
    else:
        console.print(f"  {', '.join(each for each, _ in rows)}", highlight=False)
    if kind.note:
        console.print(f"  {kind.note}", highlight=False)
    console.print()


def _plain(names: Iterable[str]) -> Rows:
    return [(name, "") for name in names]


def _commented(presets: Presets) -> Rows:
    """Presets with the first sentence of the comment that their files begin with."""
    rows = []
    for name in presets.names():
        first = presets.file(name).read_text(encoding="utf-8").partition("\n")[0]
        comment = first.removeprefix("#").strip() if first.startswith("#") else ""
        rows.append((name, comment.partition(". ")[0].rstrip(".")))
    return rows


def _described(presets: Presets) -> Rows:
    """Presets with their key `description`."""
    return [
        (name, str(presets.extended(presets.file(name)).get("description", "")))
        for name in presets.names()
    ]


def _scenarios() -> Rows:
    from iap_simulation.scenario.shipped import SCENARIOS

    return _described(SCENARIOS)


def _platforms() -> Rows:
    from iap_description.vehicles.platform import load_platform, platform_names

    return [(name, load_platform(name).description) for name in platform_names()]


def _gains() -> Rows:
    from iap_control.gains import PRESETS

    return _commented(PRESETS)


def _engines() -> Rows:
    from iap_physics.engines.make import ENGINES

    return _plain(ENGINES)


def _firmwares() -> Rows:
    from iap_physics.firmware.settings import KINDS

    return _plain(KINDS)


def _sensors() -> Rows:
    from iap_sensors.mounted.sensor_presets import NONE, SETS

    return [(NONE, "no sensors"), *_commented(SETS)]


def _scenes() -> Rows:
    from iap_description.scenes.library import scene_names

    return _plain(scene_names())


def _methods() -> Rows:
    from iap_estimation.navigation.make import FLIGHT_METHODS
    from iap_estimation.virpo.localizer import RECORDED_METHODS

    flight, recorded = "in flight", "of recordings"
    where = {name: recorded for name in RECORDED_METHODS} | {
        name: f"{flight} and {recorded}" if name in RECORDED_METHODS else flight
        for name in FLIGHT_METHODS
    }
    return list(where.items())


def _presets() -> Rows:
    from iap_estimation.virpo.spec import PRESETS

    return _commented(PRESETS)


def _frontends() -> Rows:
    from iap_estimation.frontend.spec import PRESETS

    return _commented(PRESETS)


def _tasks() -> Rows:
    from iap_learning.tasks.task import TASKS

    return _described(TASKS)


def _policies() -> Rows:
    from iap_learning.evaluation.flyers import BASELINES
    from iap_learning.policies.policy import shipped_policies

    shipped = [(name, "learned") for name in shipped_policies()]
    return [*shipped, *((name, "baseline, with --task") for name in BASELINES)]


def _experiments() -> Rows:
    from iap_bringup.experiments.table import EXPERIMENTS

    return [(each.name, each.text or "") for each in EXPERIMENTS]


def _plots() -> Rows:
    from iap_bringup.plots.table import PLOTS

    return [(each.name, each.text) for each in PLOTS]


GENERATED = "star_N, line_N, tilt_N are generated for N = 2..12; NAME_fixed has fixed links"
KINDS = {
    "scenarios": NameKind(_scenarios, "iap run NAME"),
    "platforms": NameKind(_platforms, "iap run SCENARIO --platform NAME", GENERATED),
    "gains": NameKind(_gains, "iap run SCENARIO --gains NAME"),
    "engines": NameKind(_engines, "iap run SCENARIO --engine NAME"),
    "firmwares": NameKind(_firmwares, "iap run SCENARIO --set firmware=NAME"),
    "sensors": NameKind(_sensors, "iap run SCENARIO --sensors NAME,NAME"),
    "scenes": NameKind(_scenes, "iap run SCENARIO --scene NAME"),
    "methods": NameKind(
        _methods, "iap localize RUN --method NAME, iap run ... --state-source NAME"
    ),
    "presets": NameKind(_presets, "iap localize RUN --preset NAME"),
    "frontends": NameKind(_frontends, "iap localize RUN --frontend NAME"),
    "tasks": NameKind(_tasks, "iap train NAME, iap evaluate NAME"),
    "policies": NameKind(_policies, "iap evaluate NAME"),
    "experiments": NameKind(_experiments, "iap experiment NAME"),
    "plots": NameKind(_plots, "iap plot RUN NAME"),
}
