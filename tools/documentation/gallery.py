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


def figure_text(summary: str, metrics: dict[str, Any]) -> str:
    """The outcome of a flight, and in free flight the error of the reference that it followed."""
    rmse = metrics.get("position_rmse_m")
    free = rmse is not None and not {"arm", "force_max_n"} & metrics.keys()
    error = f"; position RMSE {max(1e3 * rmse, LEAST):.3g} mm" if free else ""
    return f"**{(summary or metrics['outcome']).strip()}**{error}"


def take_picture(folder: Path, out: Path) -> None:
    """Render the middle of a recorded flight as a small picture."""
    png = folder / "picture.png"
    render_run(folder, png, [])
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
        with tempfile.TemporaryDirectory() as folder:
            result = record(name, folder=Path(folder) / name)
            known[name] = figure_text(
                result.summary, result.metrics if len(result.followers) == 1 else {"outcome": ""}
            )
            take_picture(result.folder, FOLDER / f"{name}.webp")
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sys.stdout.write(f"{name}: {known[name]}\n")
        sys.stdout.flush()
    return 0
