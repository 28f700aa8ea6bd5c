# SPDX-License-Identifier: BSD-3-Clause
"""The gallery: a picture, a figure and the command of every scenario."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown import MADE
from PIL import Image

from iap_bringup.pictures.render import render_run
from iap_description.config.alternatives import alternatives
from iap_simulation import record
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
    "rotor_weakens": 7.0,
    "slide_along_wall": 18.0,
    "socket_push": 34.0,
    "socket_push_long": 34.0,
    "three_line_5dof": 12.0,
    "three_line_figure_eight": 12.0,
    "three_square_ramps": 12.0,
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


def figure_text(summary: str, metrics: dict[str, Any], first: float | None = None) -> str:
    """The outcome of a flight, and in free flight the error of the reference that it followed.

    Args:
        summary: of a task; empty without one.
        metrics: of the flight; without errors where it has several vehicles.
        first: what was flown of it [s]; None for all.
    """
    rmse = metrics.get("position_rmse_m")
    free = rmse is not None and not {"arm", "force_max_n"} & metrics.keys()
    least = "below " if free and 1e3 * rmse < LEAST else ""
    error = f"position RMSE {least}{max(1e3 * rmse, LEAST):.3g} mm" if free else ""
    if first is not None:
        force = metrics.get("force_max_n")
        error = f"largest force {force:.3g} N" if force else error
        return f"The first {first:.0f} s" + (f": {error}" if error else "") + "."
    error = f"; {error}" if error else ""
    return f"**{(summary or metrics['outcome']).strip()}**{error}"


def take_picture(folder: Path, out: Path, times: Sequence[float] = ()) -> None:
    """Render an instant of a recorded flight, else its middle, as a small picture."""
    png = folder / "picture.png"
    render_run(folder, png, times)
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
            metrics = result.metrics if len(result.followers) == 1 else {"outcome": ""}
            known[name] = figure_text(result.summary, metrics, first)
            times = [] if first is None else [result.metrics["duration_s"]]
            take_picture(result.folder, FOLDER / f"{name}.webp", times)
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}: {known[name]}\n")
        sys.stdout.flush()
    return 0
