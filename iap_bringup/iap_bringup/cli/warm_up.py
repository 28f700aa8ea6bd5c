# SPDX-License-Identifier: BSD-3-Clause
"""Compiles kernels ahead, so that runs do not wait for them: those of single flights, or with ``--all`` every one.

The set-up calls ``python -m iap_bringup.cli.warm_up``, that for tests with ``--all``; numba keeps what was compiled, in
``NUMBA_CACHE_DIR`` under ``./iap``. All other kernels are compiled by the first run that calls them.
"""

# ruff: noqa: E402 - what is kept is checked from the first kernel on
from iap_description.process.compilation_cache import check_compilation_cache

check_compilation_cache()

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from iap_bringup.fuzz.made_blackbox import write_blackbox
from iap_bringup.pictures.picture import camera_around, render_scene
from iap_description.config.bounds import first_odd
from iap_description.errors import BadInput
from iap_description.math.relative import body_twist, joint_states
from iap_description.states import STATE_SIZE, P, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.flight_logs.readers import open_log
from iap_learning.evaluation.flyers import baseline
from iap_learning.policies.blocks.convolution import Convolution
from iap_learning.policies.blocks.gru import Gru
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.registry import make_episodes
from iap_learning.tasks.task import TASKS
from iap_sensors.cameras.make import make_renderer
from iap_sensors.physical.smooth_edges import smoothed
from iap_sensors.rays.images import KINDS
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds
from iap_simulation.runs.run import record

MAX_PROCESSES = 3  # processes, each of up to 1 GB
PLATFORMS = ("three_star", "two_line", "f450")  # one for each control law
SCENARIOS = ("peg_in_hole", "wall_push", "docking", "module_hover", "arm_pick")
EXPERTS = (  # of tasks, one for each kernel that guides
    ("docking", "noisy_script"),
    ("docking", "printed"),
    ("navigate", "field"),
    ("navigate", "potential_field"),
    ("navigate_moving", "dynamic_window"),
)
WEATHER = ("wind.speed=1.0", "wind.turbulence=1.0", "state_noise.position=0.001")
PUSH = "disturbances=[{at: 0.0, until: 1.0, force: [1.0, 0.0, 0.0], torque: [0.0, 0.0, 0.0]}]"
AMONG_TREES = {"draw.mount_tilt_deg": 4.0, "world.objects": {"trees": {"preset": "trees"}}}
DURATION = 0.2  # of a flight [s]
PUSHING = ("push.at=0.05", "start.mode=ground", "start.lead_in=0.0")
CAMERAS = tuple(
    f"sensors.cameras.{name}.{key}"
    for name in ("left", "right")
    for key in ("noise=1.0", "vignetting=0.1", "distortion=[-0.1, 0.01, 0.0, 0.0, 0.0]")
)


def main(arguments: Sequence[str]) -> None:
    """Make the shares in processes side by side, as many as there are processors."""
    shares = SHARES if "--all" in arguments else FIRST
    processes = min(MAX_PROCESSES, len(os.sched_getaffinity(0)))
    fork = multiprocessing.get_context("fork")  # of what is imported, before any kernel is used
    with ProcessPoolExecutor(processes, fork) as pool:
        list(pool.map(_make, shares))


def _make(share: Callable[[Path], None]) -> None:
    """Throw away what a share has recorded."""
    with tempfile.TemporaryDirectory() as folder:
        share(Path(folder))


def _first_flights(folder: Path) -> None:
    """A platform of three aircraft, still and in weather, with inertial units."""
    record("three_star_spiral", folder=folder / "still", duration=DURATION)
    record("figure_eight_windy", folder=folder / "weather", duration=DURATION, sensors="imu")


def _first_of_other_laws(folder: Path) -> None:
    """Platforms that other control laws fly."""
    for platform in PLATFORMS[1:]:
        record("hover", folder=folder / platform, platform=platform, duration=DURATION)


def _worlds(folder: Path) -> None:
    """Worlds side by side, and the compiled loop of a single run."""
    for platform in PLATFORMS:
        worlds = Worlds.of("hover", 2, platform=platform)
        for _ in range(2):
            worlds.advance()
        worlds.fly(1)
    assignments = ("engine.name=closed_form",)
    record("hover", folder=folder / "steady", duration=DURATION, assignments=assignments)


def _single_precision(_: Path) -> None:
    """Worlds side by side in single precision."""
    worlds = Worlds.of("hover", 2, precision="float32")
    worlds.control()
    worlds.plant.advance()
    worlds.fly(1)


def _picture(_: Path) -> None:
    """A picture of a quadrotor."""
    assembly = Assembly.of(load_platform("f450"))
    rows = resting_state(np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, 0.0, 1.0]]))
    camera = camera_around(rows[:, P], azimuth_deg=0.0, elevation_deg=20.0)
    render_scene([(assembly, rows)], camera=camera, size=(16, 9))


def _rays(_: Path) -> None:
    """Depth cameras and a lidar in worlds side by side that differ in their mounts, with all that they measure."""
    worlds = Worlds.of("hover", 2, settings=AMONG_TREES)
    worlds.advance()
    for preset in ("d455", "vl53l5cx"):
        outputs = [each for each in KINDS if each != "depth" or preset == "d455"]
        WorldRaySensor.of(worlds, preset, outputs).images()


def _pybullet(folder: Path) -> None:
    """Flights in PyBullet, also with sensors."""
    _fly_in_weather("pybullet", folder)
    for sampling in ("integrating", "instantaneous"):
        record("hover", folder=folder / sampling, **_sensing(sampling))
    _check_message()


def _estimates(folder: Path) -> None:
    """Flights on estimates."""
    for levels in (np.zeros((16, 16), np.uint8), np.zeros((16, 16, 3), np.uint8)):
        smoothed(levels)  # of images in physical light
    if _can_draw():
        for method in ("joint", "virpo", "drift_filter"):
            record("figure_eight", folder=folder / method, **_estimating(method))


def _scenarios(folder: Path) -> None:
    """Flights in contact, by a learned policy, on tilting rotors and with an arm."""
    for name in SCENARIOS:
        record(name, folder=folder / name, duration=DURATION)


def _tasks(_: Path) -> None:
    """Steps of each task's episodes: by the suite's controllers, by actions, and by experts."""
    anyone = [(task, agent) for task in TASKS.names() for agent in ("controller", "zero")]
    for task, agent in (*anyone, *EXPERTS):
        episodes = make_episodes(task, 2)
        start = episodes.reset(seeds=range(2))
        list(islice(step_until_over(episodes, start, baseline(agent).acting(episodes)), 3))


def _blocks(_: Path) -> None:
    """Blocks of policies: a convolution and a memory."""
    for block in (
        Convolution(kind="convolution", image=(4, 4), channels=(1,), kernel=2, stride=1),
        Gru(kind="gru", size=2),
    ):
        arrays = {name: np.zeros(each, np.float32) for name, each in block.shapes(16).items()}
        memory = np.zeros((1, block.memory), np.float32)
        block.run(arrays, np.zeros((1, 16), np.float32), memory)


def _closed_form(folder: Path) -> None:
    """Flights without PyBullet that are made period by period."""
    _fly_in_weather("closed_form", folder)
    assignments = ("engine.name=closed_form", "compiled=false", "state_noise.latency=0.01")
    record("hover", folder=folder / "late", duration=DURATION, assignments=assignments)
    record("two_platforms", folder=folder / "two", duration=DURATION, assignments=assignments[:1])


def _contact(folder: Path) -> None:
    """Flights that push as they are asked, in both ways and engines; from the ground, where contact is felt."""
    for engine in ("pybullet", "mujoco"):
        for mode in ("selective", "paper"):
            assignments = (f"engine.name={engine}", f"control.wrench_mode={mode}", *PUSHING)
            record(
                "wall_push",
                folder=folder / engine / mode,
                duration=DURATION,
                assignments=assignments,
            )
    yielding = ("control.admittance=true", "control.gains.admittance.orientation=euler")
    record("peg_in_hole", folder=folder / "euler", duration=DURATION, assignments=yielding)


def _contact_worlds(_: Path) -> None:
    """Worlds with contact side by side, also with two vehicles or an arm in each."""
    touching = {"engine.name": "mujoco", "control.wrench_mode": "none"}
    for platform in ("three_star", "f450"):
        Worlds.of("wall_push", 2, settings=touching, platform=platform).advance()
    plain = {"arm.feed_forward": "none"}
    for name, keys in (("two_platforms", {}), ("arm_pick", plain)):
        settings = {"engine.name": "mujoco", **keys}
        Worlds.of(name, 2, settings=settings, sensors="none").advance()


def _fly_in_weather(engine: str, folder: Path) -> None:
    for platform in PLATFORMS:
        assignments = (f"engine.name={engine}", *WEATHER)
        record(
            "hover",
            folder=folder / platform,
            platform=platform,
            duration=DURATION,
            assignments=assignments,
        )


def _can_draw() -> bool:
    try:
        make_renderer("opengl").close()
    except BadInput:  # a run with cameras will say so itself
        return False
    return True


def _sensing(sampling: str) -> dict[str, Any]:
    """All sensors that compile something; cameras where this machine can draw."""
    assignments = (f"sensors.imu.sampling={sampling}", "control.observer=acceleration", PUSH)
    if not _can_draw():
        return {"sensors": "imu,uwb", "duration": DURATION, "assignments": assignments}
    return {"sensors": "stereo", "duration": DURATION, "assignments": (*assignments, *CAMERAS)}


def _estimating(method: str) -> dict[str, Any]:
    """A flight on an estimate, long and fast enough for its window to move."""
    slow = tuple(f"sensors.cameras.{name}.rate=10.0" for name in ("left", "right"))
    assignments = ("recording.euroc=false", "start.lead_in=1.0", *slow)
    source = {"sensors": "stereo", "state_source": method}
    return {**source, "duration": 2.0, "assignments": assignments}


def _check_message() -> None:
    """Look at the numbers of a message, and fill in odometry and joint states, as nodes do."""
    first_odd(np.array([0.0, 0.0, 0.0, 1.0]), np.arange(4), np.array([0]))
    x = np.eye(2, STATE_SIZE, k=6)
    body_twist(x[0], np.zeros(6))
    joint_states(x, np.array([[0, 1]]), np.zeros((1, 4)), np.zeros((1, 3)))


def _logs(folder: Path) -> None:
    """A blackbox, whose frames are decoded by compiled code."""
    write_blackbox(folder)
    open_log(folder / "flight.bbl")


FIRST = (_first_flights, _first_of_other_laws, _picture)  # of the commands that people type first
SHARES = (
    _single_precision,
    _worlds,
    _pybullet,
    _estimates,
    _tasks,
    _blocks,
    _scenarios,
    _closed_form,
    _contact,
    _contact_worlds,
    _picture,
    _rays,
    _logs,
)

if __name__ == "__main__":
    main(sys.argv[1:])
