# SPDX-License-Identifier: BSD-3-Clause
"""Texts that commands read: YAML of scenarios, platforms and tasks, meshes, and tables of poses and logs."""

from pathlib import Path
from typing import Any

import numpy as np

from iap_control.gains import PRESETS as GAINS
from iap_description.arrays import Array
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
EFFECTS: dict[str, Any] = {
    "lens_drops": {"count": 3, "radius": 5.0, "wideness": 5.0, "lifetime": 10.0},
    "glare": {"share": 0.04, "levels": 3},
    "chromatic_aberration": {"red": [0.001, 0.0005], "blue": [-0.001, 0.0]},
    "vignetting": {"natural": True, "polynomial": [0.0, 0.0, 0.0]},
    "exposure": {"time": 0.002, "gain_db": 0.0, "f_number": 2.0},
    "rolling_shutter": {"line_time": 3e-5, "bands": 2},
    "sensor": {
        "pixel_size": 6.0,
        "full_well": 12000.0,
        "read_noise": 20.0,
        "prnu": 0.01,
        "bits": 8,
    },
    "auto_exposure": {"target": 0.25, "speed": 0.5, "time_min": 5e-5, "gain_max_db": 18.0},
}
LIGHT: dict[str, Any] = {
    "light": {
        "sun": {"elevation_deg": 20.0, "azimuth_deg": 40.0},
        "lamps": {
            "street": {
                "position": [2.0, 0.0, 3.0],
                "flux": 5000.0,
                "direction": [0.0, 0.0, -1.0],
                "cone_deg": 60.0,
            }
        },
        "sky_scale": 1.0,
    },
    "weather": {"turbidity": 3.0, "clouds": 0.3, "visibility": 50.0, "rain": 5.0, "wetness": 0.2},
}
RATES = np.array([2.0, 3.0, 4.0, 3.0, 5.0, 5.0, 5.0])  # poles of the logged vehicle [1/s]
CHANNELS = ("u_l", "u_m", "u_n", "w", "q1_p", "q2_p", "q3_p")
COLUMNS = 4  # channels of a CSV file
MATLAB = {"u_n": "zu_p", "w": "psi_p"}  # names of measured channels there
REFERENCES = ("ul", "um", "un", "w", "q1p", "q2p", "q3p")


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
    for renderer in ("physical", "pybullet"):
        _write(home / f"images_{renderer}.yaml", _images(renderer))
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
    _write_tables(home)


def _write_presets(home: Path, kind: str, presets: Presets) -> None:
    for name in presets.names():
        _write(home / f"{kind}_{name}.yaml", presets.extended(presets.file(name)))


def _images(renderer: str) -> dict[str, Any]:
    """A flight with a small camera on board; with effects, in light and weather for a renderer that has them."""
    tree: dict[str, Any] = resolve("hover", Options(sensors="stereo"))[1]
    camera = tree["sensors"]["cameras"]["left"]
    camera |= {"width": 64, "height": 48, "fx": 40.0, "fy": 40.0, "cx": 31.5, "cy": 23.5}
    light = {"world": {**tree["world"], "scene": "textured_walls", **LIGHT}}
    cameras = {"cameras": {"left": camera}, "imu": tree["sensors"]["imu"]}
    lit = light if renderer == "physical" else {}
    if lit:
        camera["effects"] = EFFECTS
    return {**tree, "renderer": renderer, "sensors": cameras, **lit}


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


def _write_tables(home: Path) -> None:
    """Write recorded poses, and logs of a vehicle of first order, as CSV and for MATLAB."""
    rows = [[0.005 * i, 0.01 * i, 0.0, 1.0, 0.7071, 0.0, -0.7071, 0.0] for i in range(60)]
    stamped = [
        [f"{1_400_000_000_000_000_000 + round(1e9 * r[0])}", *map(repr, r[1:])] for r in rows
    ]
    text = "#timestamp, p_RS_R_x, y, z, q_RS_w, x, y, z\n"
    text += "\n".join(map(",".join, stamped)) + "\n"
    (home / "truth.csv").write_text(text, encoding="utf-8")
    tum = "\n".join(" ".join(map(repr, [*r[:4], *r[5:], r[4]])) for r in rows)
    (home / "truth.tum").write_text(f"# t x y z q\n{tum}\n", encoding="utf-8")
    for number in (1, 2):
        _write_logs(home, number)


def _write_logs(home: Path, number: int) -> None:
    from scipy.io import savemat  # slow to import

    t, commands, v = _log(number)
    names = CHANNELS[:COLUMNS]
    signals = {"t": t, **{f"{each}_ref": commands[i] for i, each in enumerate(names)}}
    signals |= {each: v[i] for i, each in enumerate(names)}
    table = np.column_stack(list(signals.values())).tolist()
    rows = "\n".join(",".join(map(repr, row)) for row in table)
    (home / f"log_{number}.csv").write_text(",".join(signals) + f"\n{rows}\n", encoding="utf-8")
    measured = {MATLAB.get(each, each): v[i] for i, each in enumerate(CHANNELS) if i > 1}
    planar = {"yu_p": v[0], "xu_p": -v[1], "psi": 0.0 * t}
    joints = {each.removesuffix("_p"): np.cumsum(measured[each]) * 0.05 for each in CHANNELS[4:]}
    sent = {f"{each}_ref": commands[i] for i, each in enumerate(REFERENCES)}
    times = {"ts": np.array([0.05]), "dt": np.full(len(t), 0.05)}
    savemat(
        home / f"log_{number}.mat",
        {**measured, **planar, **joints, **sent, **times},
        oned_as="row",
        do_compression=number == 1,
    )


def _log(seed: int, samples: int = 150, period: float = 0.05) -> tuple[Array, Array, Array]:
    """Times, commanded and measured velocities (7, K) of all channels: v' = rate (v_d - v)."""
    t: Array = period * np.arange(samples, dtype=np.float64)
    rng = np.random.default_rng(seed)
    count = len(CHANNELS)
    frequencies, phases = rng.uniform(0.5, 3.0, (count, 3)), rng.uniform(0.0, 6.3, (count, 3))
    commands: Array = 0.3 * np.sin(frequencies[..., None] * t + phases[..., None]).sum(axis=1)
    v = np.zeros((count, samples))
    for k in range(samples - 1):
        v[:, k + 1] = v[:, k] + period * RATES * (commands[:, k] - v[:, k])
    return t, commands, v
