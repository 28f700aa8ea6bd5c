# SPDX-License-Identifier: BSD-3-Clause
"""The command ``iap list``."""

import argparse

from rich.console import Console
from rich.table import Table

from iap_bringup.terminal.platform_sheet import show_platform
from iap_control.gains import PRESETS as GAINS
from iap_description.scenes.library import scene_names
from iap_description.vehicles.platform import load_platform, platform_names
from iap_sensors.mounted.sensor_presets import set_names
from iap_simulation.scenario.resolving import SCENARIOS


def list_all(options: argparse.Namespace) -> int:
    """Show scenarios, platforms, gains, sensors and scenes, or one platform."""
    console = Console()
    if options.platform is not None:
        show_platform(options.platform, console)
        return 0
    scenarios = [(n, SCENARIOS.tree(n).get("description", "")) for n in SCENARIOS.names()]
    platforms = [(name, load_platform(name).description) for name in platform_names()]
    for title, rows in (("Scenarios", scenarios), ("Platforms", platforms)):
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        for name, description in rows:
            table.add_row(f"[bold]{name}[/]", description)
        console.print(table)
    console.print(
        "  star_N, line_N, tilt_N   generated for N = 2..12; NAME_fixed has fixed links instead of joints"
    )
    names = {"Gains": GAINS.names(), "Sensors": set_names(), "Scenes": scene_names()}
    for title, listed in names.items():
        console.print(f"[italic]{title}[/]\n  {', '.join(listed)}")
    return 0
