# SPDX-License-Identifier: BSD-3-Clause
"""YAML of scenarios, platforms, tasks, experiments and what they name, and meshes of a world."""

from pathlib import Path
from typing import Any

from iap_control.gains import PRESETS as GAINS
from iap_description.config.plain_yaml import yaml_text
from iap_description.config.record import Presets
from iap_description.vehicles.arm import ARMS
from iap_description.vehicles.platform import platform_names, platform_tree
from iap_learning.tasks.agents import EXPERTS
from iap_learning.tasks.task import EXPERIMENTS, TASKS
from iap_physics.identified.plant_file import PLANTS
from iap_sensors.mounted.uwb import ANCHOR_PRESETS
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve

CORNERS = (
    ((0, 0, 0), (0, 1, 0), (1, 0, 0)),
    ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
    ((0, 0, 0), (0, 0, 1), (0, 1, 0)),
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
)
RANGE_MAP: dict[str, Any] = {
    "imu": "/imu",
    "ranges": {"topic": "/uwb", "anchor": "header.frame_id", "range": "range", "deviation": 0.1},
    "anchors": [
        {"id": str(number), "position": [4.0 * x, 4.0 * y, 2.0 * z], "bias": 0.0}
        for number, (x, y, z) in enumerate(((1, 1, 1), (-1, 1, 0), (-1, -1, 1), (1, -1, 0)))
    ],
    "up": "z",
    "truth": {"topic": "/truth", "turned": True},
}


def write(home: Path) -> None:
    """Write all of them, resolved or as their files have it."""
    for name in SCENARIOS.names():
        has_short_periods = name != "arm_path"
        kind = "scenario" if has_short_periods else "arm"
        _write(home / f"{kind}_{name}.yaml", SCENARIOS.extended(SCENARIOS.file(name)))
    for name in ("hover", "wall_push", "docking", "module_hover", "arm_pick"):
        _write(home / f"resolved_{name}.yaml", resolve(name, Options())[1])
    sensed = resolve("hover", Options(sensors="imu,uwb,lidar"))[1]
    _write(home / "sensors.yaml", sensed)
    for name in platform_names():
        _write(home / f"platform_{name}.yaml", platform_tree(name)[0])
    kinds = {"task": TASKS, "experiment": EXPERIMENTS, "expert": EXPERTS, "plant": PLANTS}
    for kind, presets in kinds.items():
        _write_presets(home, kind, presets)
    _write(home / "gains.yaml", GAINS.tree("default"))
    _write(home / "links.yaml", ARMS.tree(ARMS.names()[0]))
    _write(home / "armed.yaml", {**platform_tree("m100_arm")[0], "arm": "links.yaml"})
    _write(home / "anchors.yaml", ANCHOR_PRESETS.tree(ANCHOR_PRESETS.names()[0]))
    _write(home / "map.yaml", RANGE_MAP)
    _write(home / "world.yaml", _world())
    _write_meshes(home)


def _write_presets(home: Path, kind: str, presets: Presets) -> None:
    for name in presets.names():
        _write(home / f"{kind}_{name}.yaml", presets.extended(presets.file(name)))


def _world() -> dict[str, Any]:
    """A scenario with objects of several kinds, two of them meshes beside the file."""
    surface = {"friction": 0.5, "restitution": 0.0}
    at = {"position": [3.0, 0.0, 1.0], "surface": surface}
    objects = {
        "mesh": {"type": "mesh", "file": "mesh.stl", **at},
        "another": {"type": "mesh", "file": "mesh.obj", **at, "position": [-3.0, 0.0, 1.0]},
        "trees": {"preset": "trees"},
        "boxes": {"preset": "boxes"},
    }
    return {"extends": "hover", "description": "Obstacles.", "world": {"objects": objects}}


def _write(path: Path, tree: object) -> None:
    path.write_text(yaml_text(tree), encoding="utf-8")


def _write_meshes(home: Path) -> None:
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
        + "endloop\nendfacet\n"
        for corners in CORNERS
    )
    (home / "mesh.stl").write_text(f"solid cube\n{facets}endsolid cube\n", encoding="utf-8")
    vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (home / "mesh.obj").write_text(vertices + faces, encoding="utf-8")
