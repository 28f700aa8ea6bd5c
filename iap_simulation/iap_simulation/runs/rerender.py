# SPDX-License-Identifier: BSD-3-Clause
"""Images of a recorded motion, with other cameras or in another scene: a new run folder, in one pass.

The states come from the recording, bit for bit, so the same cameras in the same scene see what they
saw. Everything else in the recording is taken over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.sensors.readings import Reading
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.vehicles.arm_links import ChainState
from iap_io.recording.recorder import Recorder
from iap_io.runs import topics
from iap_io.runs.columns import Columns
from iap_io.runs.run_folder import (
    METRICS,
    RunData,
    load_run,
    read_metrics,
    write_config,
    write_metrics,
)
from iap_io.runs.run_meta import RecordingSettings
from iap_io.runs.topics import BAG
from iap_io.runs.trajectory_files import write_trajectories
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.cameras.renderer import Renderer
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_simulation.scenario.randomization import placed_world
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

STAMP_TOLERANCE = 1e-6  # by which stamps of one instant may differ [s]


def rerender(
    run: Path,
    out: Path,
    scenario: Scenario,
    config: dict[str, Any],
    *,
    renderer: Renderer,
    recording: RecordingSettings,
    progress: Callable[[float], None],
) -> MountedCameras:
    """Render a recorded motion again.

    Args:
        run: the folder of the recorded run.
        out: an empty run folder.
        scenario: that was flown, with the cameras and the scene that count now.
        config: its resolved plain tree, kept in the folder.
        renderer: fresh.
        recording: how the new run is recorded.
        progress: called with the simulation time [s].

    Returns:
        The cameras, with the number of images and the time that they took.

    Raises:
        BadInput: not a run folder, other vehicles, no camera, or an object whose motion was not recorded.
        RecordingFailed: the disk is full or cannot be written.
    """
    data, rig = load_run(run), rig_spec(scenario)
    cameras = mounted_cameras_of(rig)
    check_rerender(run, data, scenario, len(cameras))
    others = tuple(each for each in data.meta.sensors if not isinstance(each, CameraSensorInfo))
    meta = data.meta.model_copy(update={"sensors": (*others, *(each.info for each in cameras))})
    write_config(out, config, meta.sensors)
    mounted = MountedCameras(rig, cameras, renderer)
    mounted.reset(data.meta.seed)
    with Recorder(out, meta, recording) as recorder:
        _copy_tracks(data, recorder)
        readings = read_sensors(run / BAG, others)
        _play(data, readings, mounted, RecordedStates.of(data, scenario), recorder, progress)
    write_trajectories(out, load_run(out))
    if (run / METRICS).exists():
        write_metrics(out, read_metrics(run))
    return mounted


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """States of all that may be seen, at the control instants of a recorded run.

    Attributes:
        columns: of each vehicle.
        objects: states of the world's objects at a time [s].
        count: of instants.
    """

    columns: Sequence[Columns]
    objects: Callable[[float], Array]
    count: int

    @classmethod
    def of(cls, data: RunData, scenario: Scenario) -> Self:
        """The states of a run, in the world of a scenario."""
        columns = [vehicle.columns for vehicle in data.vehicles]
        world = placed_world(scenario)
        objects = world.object_states if data.objects is None else data.objects.at
        return cls(columns, objects, min(len(c.t) for c in columns))

    def time(self, i: int) -> tuple[int, float]:
        """Number and time [s] of an instant."""
        return int(self.columns[0].k[i]), float(self.columns[0].t[i])

    def at(self, i: int) -> RigState:
        """The state at an instant."""
        x = np.concatenate([c.x[i] for c in self.columns])
        tilts = np.concatenate([c.tilt[i] for c in self.columns])
        arms = (c.arm for c in self.columns)
        joints = [ChainState(each.q[i], each.v[i]) for each in arms if each is not None]
        return RigState(x, self.objects(self.time(i)[1]), tilts, joints)


def check_rerender(run: Path, data: RunData, scenario: Scenario, cameras: int) -> None:
    """Refuse what cannot be rendered again with the cameras of a scenario, of which there is a number.

    Raises:
        BadInput: see `rerender`.
    """
    recorded = [vehicle.meta.name for vehicle in data.vehicles]
    names = [vehicle.name for vehicle in scenario.vehicles]
    if recorded != names:
        raise BadInput(
            f"{run}: vehicles {', '.join(recorded)} were recorded, not {', '.join(names)}"
        )
    if cameras == 0:
        raise BadInput(f"{run}: there is no camera to render; choose some with --sensors")
    for name, item in scenario.world.objects.items():
        if item.mass is not None and data.objects is None:
            raise BadInput(
                f"{run}: key 'world.objects.{name}': it moves freely, and this recording does not say where it was"
            )
    if data.objects is not None and data.objects.names != tuple(scenario.world.objects):
        there = ", ".join(data.objects.names)
        raise BadInput(
            f"{run}: key 'world.objects': {there} were recorded, no others can be shown"
        )


def _copy_tracks(data: RunData, recorder: Recorder) -> None:
    for i, vehicle in enumerate(data.vehicles):
        for name, track in (
            (topics.REFERENCE_POSE, vehicle.commanded),
            (topics.ACTUAL, vehicle.actual),
            (topics.ACTUAL_WRENCH, vehicle.measured),
        ):
            if track is not None:
                recorder.add_track(i, name, track)


def _play(
    data: RunData,
    readings: Iterator[Reading],
    cameras: MountedCameras,
    states: RecordedStates,
    recorder: Recorder,
    progress: Callable[[float], None],
) -> None:
    """Hand over every tick with its readings, in the order of a run."""
    waiting = next(readings, None)
    for i in range(states.count):
        k, t = states.time(i)
        while waiting is not None and waiting.t <= t + STAMP_TOLERANCE:
            recorder.receive(waiting)
            waiting = next(readings, None)
        for image in cameras.sample(k, t, states.at(i)):
            recorder.receive(image)
        for number, c in enumerate(states.columns):
            recorder.record(number, c.step(i))
        if i % 50 == 0:
            progress(t)
    for reading in chain([] if waiting is None else [waiting], readings):
        recorder.receive(reading)
