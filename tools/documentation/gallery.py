# SPDX-License-Identifier: BSD-3-Clause
"""The gallery: a picture, a figure and the command of every scenario."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from markdown import MADE
from PIL import Image

from iap_bringup.pictures.render import render_run
from iap_bringup.plots.recorded_run import RecordedRun
from iap_description.config.alternatives import alternatives
from iap_io.runs.run_folder import load_run
from iap_simulation import record
from iap_simulation.runs.run import Result
from iap_simulation.scenario.shipped import SCENARIOS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "gallery"
FIGURES = FOLDER / "figures.json"
LEAST = 0.001  # of errors that are shown [mm]
SIZE, QUALITY = (480, 270), 60  # of a picture [pixels], of WebP
FIRST = {  # scenario -> what is flown of it for its picture, which is of the last instant [s]
    "beetle_hover": 8.0,
    "blind": 5.0,
    "figure_eight_windy": 12.0,
    "module_hover": 10.0,
    "module_lemniscate": 14.0,
    "module_release": 10.0,
    "module_square": 10.0,
    "peg_in_hole": 22.0,
    "perch_on_wall": 9.0,
    "push_button": 14.0,
    "push_door": 17.0,
    "push_object": 13.0,
    "rotor_weakens": 12.0,
    "slide_along_wall": 18.0,
    "socket_push": 34.0,
    "socket_push_long": 34.0,
    "three_line_5dof": 12.0,
    "three_line_figure_eight": 12.0,
    "three_square_ramps": 12.0,
    "turn_valve": 12.0,
    "two_line_circle": 12.0,
    "two_line_figure_eight": 12.0,
    "two_platforms": 10.0,
    "velocity_steps": 12.0,
    "wall_push": 16.0,
}


def figures() -> dict[str, str]:
    """Scenario -> what came of its flight."""
    return dict(json.loads(FIGURES.read_text(encoding="utf-8"))) if FIGURES.is_file() else {}


def gallery() -> str:
    """The page, with what there is of pictures and figures."""
    out = (
        f"{MADE}# Gallery\n\nEvery scenario of the suite: what came of its flight, and the command that flies it.\n"
        "`./iap docs --gallery` flies all of them and takes the pictures anew.\n\n"
    )
    known = figures()
    for name in SCENARIOS.names():
        text = str(SCENARIOS.extended(SCENARIOS.file(name)).get("description", ""))
        out += f"## {name}\n\n{text}\n\n"
        if (FOLDER / f"{name}.webp").is_file():
            out += f"![{text}](../gallery/{name}.webp)\n\n"
        out += f"```sh\n./iap run {name}\n```\n\n"
        out += f"{known[name]}\n\n" if name in known else ""
    return out


def figure_text(result: Result, first: float | None = None) -> str:
    """The outcome of a flight, and the first figure of `FIGURES_OF` that it has.

    Args:
        result: of the flight.
        first: what was flown of it [s]; None for all.
    """
    summary = result.summary.strip()
    if first is None and summary != result.metrics["outcome"]:  # a task's own sentence says more
        return f"**{summary}**"
    text = next((each for figure in FIGURES_OF if (each := figure(result))), "")
    if first is not None:
        return f"The first {first:.0f} s" + (f": {text}" if text else "") + "."
    return f"**{summary}**" + (f"; {text}" if text else "")


def _tip(result: Result) -> str:
    """The error of an arm's end effector."""
    arm = result.metrics.get("arm", {})
    rmse = arm.get("position_rmse_m", arm.get("tip_rmse_m"))
    return "" if rmse is None else f"RMSE of the end effector {_mm(rmse)}"


def _joints(result: Result) -> str:
    """The mean force that joints between modules are left to bear."""
    force = result.metrics.get("modules", {}).get("joint_force_n")
    return "" if force is None else f"largest mean force in a joint {force:.2g} N"


def _depth(result: Result) -> str:
    """The depth of a tool in a bore."""
    depth = result.metrics.get("depth_m")
    return f"depth in the bore {1e3 * depth:.0f} mm" if depth and depth > 0.0 else ""


def _force(result: Result) -> str:
    """The largest force of contact."""
    force = result.metrics.get("force_max_n")
    return f"largest force {force:.3g} N" if force else ""


def _position(result: Result) -> str:
    """The position error of the vehicles that follow references, of several the largest."""
    vehicles = result.metrics.get("vehicles") or dict.fromkeys(result.followers, result.metrics)
    sizes = [vehicles[name].get("position_rmse_m") for name in result.followers]
    known = [size for size in sizes if size is not None]
    return f"position RMSE {_mm(max(known))}" if known else ""


def _mm(size: float) -> str:
    least = "below " if 1e3 * size < LEAST else ""
    return f"{least}{max(1e3 * size, LEAST):.3g} mm"


FIGURES_OF = (_tip, _joints, _depth, _force, _position)  # of a flight, the most telling first


def take_picture(folder: Path, out: Path, times: Sequence[float] = ()) -> None:
    """Render an instant of a recorded flight, else its middle, as a small picture."""
    png = folder / "picture.png"
    render_run(load_run(folder), RecordedRun(folder).scenario, png, times)
    with Image.open(png) as picture:
        small = picture.convert("RGB")
        small.thumbnail(SIZE)
        small.save(out, quality=QUALITY)


def fly_gallery(names: Sequence[str]) -> int:
    """Fly scenarios, all if none are named, and keep their pictures and figures; returns the exit code."""
    for name in names:
        if name not in SCENARIOS.names():
            near = alternatives(name, SCENARIOS.names())
            sys.stderr.write(f"iap: docs: unknown scenario '{name}': {near}\n")
            return 2
    FOLDER.mkdir(exist_ok=True)
    known = figures()
    for name in names or SCENARIOS.names():
        first = FIRST.get(name)
        with tempfile.TemporaryDirectory() as folder:
            result = record(name, folder=Path(folder) / name, duration=first)
            known[name] = figure_text(result, first)
            times = [] if first is None else [result.metrics["duration_s"]]
            take_picture(result.folder, FOLDER / f"{name}.webp", times)
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}: {known[name]}\n")
        sys.stdout.flush()
    return 0
