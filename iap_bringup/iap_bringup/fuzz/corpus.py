# SPDX-License-Identifier: BSD-3-Clause
"""Sound input of every kind, which is damaged afterwards: made by commands, as users make it, or by formulas."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from iap_bringup.fuzz.trials import Main
from iap_description.arrays import Array
from iap_description.config.plain_yaml import yaml_text
from iap_description.errors import IapError
from iap_description.vehicles.platform import platform_names, platform_tree
from iap_learning.policies.policy import SHIPPED
from iap_learning.tasks.task import EXPERIMENTS, TASKS
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve
from iap_simulation.sweeps.flying import fly
from iap_simulation.sweeps.study import Axis, Study
from iap_simulation.sweeps.sweep import chunks_of
from iap_simulation.sweeps.sweep_folder import SweepFolder

SHORT = 0.03  # of a flight [s]
SWEEP = ("hover", ("--engine", "closed_form", "--duration", str(SHORT)), "wind.speed=0,1", 3)
CUBE = (
    "solid cube\n"
    + "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
        + "endloop\nendfacet\n"
        for corners in (
            ((0, 0, 0), (0, 1, 0), (1, 0, 0)),
            ((0, 0, 0), (1, 0, 0), (0, 0, 1)),
            ((0, 0, 0), (0, 0, 1), (0, 1, 0)),
            ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        )
    )
    + "endsolid cube\n"
)
RATES = np.array([2.0, 3.0, 4.0, 3.0])  # poles of the logged vehicle [1/s]


class Corpus:
    """Sound input in a folder, a name for each kind, made when it is first asked for.

    Args:
        main: the program.
        home: the folder.
    """

    def __init__(self, main: Main, home: Path) -> None:
        self._main, self.home = main, home
        self._made = set[str]()

    def __getitem__(self, pattern: str) -> list[Path]:
        """All sound files or folders whose names fit."""
        name = next((each for each in _MADE_BY if pattern.startswith(each)), "")
        if name not in self._made:
            self._made.add(name)
            self._make(name)
        return sorted(self.home.glob(pattern))

    def _make(self, name: str) -> None:
        if name == "sweep":
            _make_sweep(self.home / name)
        elif name:
            _call(self._main, [*_MADE_BY[name], "--out", str(self.home / name)])
        else:
            _make_trees(self.home)
            _make_tables(self.home)
            (self.home / "mesh.stl").write_text(CUBE, encoding="utf-8")
            for path in SHIPPED.glob("*.npz"):
                (self.home / path.name).write_bytes(path.read_bytes())


_MADE_BY: dict[str, tuple[str, ...]] = {
    "run": ("run", "hover", "--duration", "0.1", "--engine", "closed_form"),
    "modules_run": ("run", "module_hover", "--duration", "0.1"),
    "arm_run": ("run", "arm_path", "--duration", "11", "--set", "compare={}"),
    "sweep": (),
}
"""Commands that make what the names begin; all other input is made by formulas."""


def _call(main: Main, arguments: list[str]) -> None:
    """Run a command of ``iap`` without plots, and without what it says.

    Raises:
        IapError: it has failed.
    """
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = main([*arguments, "--no-plot"])
    if code:
        raise IapError(f"iap {' '.join(arguments)}: {output.getvalue()[-300:]}")


def _make_trees(home: Path) -> None:
    """YAML of scenarios, platforms, tasks and experiments, resolved or as their files have it."""
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
    for name in TASKS.names():
        _write(home / f"task_{name}.yaml", TASKS.extended(TASKS.file(name)))
    for name in EXPERIMENTS.names():
        _write(home / f"experiment_{name}.yaml", EXPERIMENTS.extended(EXPERIMENTS.file(name)))
    _write(home / "world.yaml", _world())


def _world() -> dict[str, Any]:
    """A scenario with objects of several kinds, one of them a mesh beside the file."""
    surface = {"friction": 0.5, "restitution": 0.0}
    at = {"position": [3.0, 0.0, 1.0], "surface": surface}
    objects = {
        "mesh": {"type": "mesh", "file": "mesh.stl", **at},
        "trees": {"preset": "trees"},
        "boxes": {"preset": "boxes"},
    }
    return {"extends": "hover", "description": "Obstacles.", "world": {"objects": objects}}


def _write(path: Path, tree: object) -> None:
    path.write_text(yaml_text(tree), encoding="utf-8")


def _make_tables(home: Path) -> None:
    """A recorded command in EuRoC's layout, and logs of a vehicle of first order."""
    rows = [[1.4e18 + 5e6 * i, 0.01 * i, 0.0, 1.0, 0.7071, 0.0, -0.7071, 0.0] for i in range(60)]
    lines = [",".join([str(int(row[0])), *map(repr, row[1:])]) for row in rows]
    text = "#timestamp, p_RS_R_x, y, z, q_RS_w, x, y, z\n" + "\n".join(lines) + "\n"
    (home / "truth.csv").write_text(text, encoding="utf-8")
    for number in (1, 2):
        signals = _log(number)
        table = np.column_stack(list(signals.values())).tolist()
        rows_text = "\n".join(",".join(map(repr, row)) for row in table)
        path = home / f"log_{number}.csv"
        path.write_text(",".join(signals) + "\n" + rows_text + "\n", encoding="utf-8")


def _log(seed: int, samples: int = 150, period: float = 0.05) -> dict[str, Array]:
    """Commanded and measured velocities by their channels: v' = rate (v_d - v)."""
    t = period * np.arange(samples)
    rng = np.random.default_rng(seed)
    frequencies, phases = rng.uniform(0.5, 3.0, (4, 3)), rng.uniform(0.0, 6.3, (4, 3))
    commands = 0.3 * np.sin(frequencies[..., None] * t + phases[..., None]).sum(axis=1)
    v = np.zeros((4, samples))
    for k in range(samples - 1):
        v[:, k + 1] = v[:, k] + period * RATES * (commands[:, k] - v[:, k])
    names = ("u_l", "u_m", "u_n", "w")
    commanded = {f"{name}_ref": commands[i] for i, name in enumerate(names)}
    return {"t": t, **commanded, **{name: v[i] for i, name in enumerate(names)}}


def _make_sweep(out: Path) -> None:
    """A sweep that is done, flown in this process."""
    scenario, _, vary, seeds = SWEEP
    options = Options(engine="closed_form", duration=SHORT)
    study = Study(scenario, options, (Axis.of(vary),), seeds)
    points = study.points()
    folder = SweepFolder.open(out, study, points)
    for point in points:
        for chunk in chunks_of(study, point):
            folder.add(chunk.name, fly(chunk))


def read_tree(path: Path) -> Any:  # noqa: ANN401 - of any file
    """The plain tree in a file of the corpus."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


def files_in(path: Path) -> Iterator[Path]:
    """A file itself, or all files in a folder."""
    yield from (
        sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    )
