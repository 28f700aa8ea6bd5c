# SPDX-License-Identifier: BSD-3-Clause
"""Notes that a scene shows besides the states of vehicles: couplings between them, uncertainty of estimates, points."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from iap_bringup.viewing.events import Event
from iap_bringup.viewing.stage import Rgb
from iap_control.modules.exchange import JointState
from iap_control.modules.joint_states import STATES
from iap_control.modules.settings import FACES
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.sensors.lens import Lens
from iap_description.sensors.readings import CloudReading, ImageReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, LidarInfo, SensorInfo
from iap_description.signals import Step
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ChainState, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.latch import PortFrame
from iap_physics.latching.latches import PHASES, Phase
from iap_simulation.scenario.scenario import Scenario

MOST_POINTS = 1000  # of a sensor, that are drawn
DEPTH = "32FC1"  # encoding of images that show depth [m]
ABOVE = np.array([0.0, 0.0, 0.14])  # of a coupling, where its ball hides in nothing [m]
OPEN_COLOR: Rgb = (150, 150, 150)
MOVING_COLOR: Rgb = (235, 165, 20)
HELD_COLOR: Rgb = (40, 160, 70)
LOST_COLOR: Rgb = (205, 40, 40)
LATCH_COLORS = {
    Phase.OPEN: OPEN_COLOR,
    Phase.CAUGHT: MOVING_COLOR,
    Phase.LOCKED: HELD_COLOR,
    Phase.SPENT: LOST_COLOR,
}
JOINT_COLORS = {
    JointState.APART: OPEN_COLOR,
    JointState.JOINED: HELD_COLOR,
    JointState.EMERGENCY: LOST_COLOR,
}


class SceneNotes(NamedTuple):
    """Additions to an instant of a flight.

    Attributes:
        couplings: numbers of the states of latches and of joints between modules, by their names.
        covariances: (3, 3) of estimated positions [m^2], by VEHICLE/BODY.
        clouds: (n, 3) measured points in `map` [m], by the topics of their sensors.
        objects: (13,) states of the world's objects, by their names, where one of them moves freely.
        events: of the flight so far, where it is shown while it is flown.
    """

    couplings: Mapping[str, int] = {}
    covariances: Mapping[str, Array] = {}
    clouds: Mapping[str, Array] = {}
    objects: Mapping[str, Array] = {}
    events: Sequence[Event] = ()


NO_NOTES = SceneNotes()


class Coupling(NamedTuple):
    """A latch, or a joint between modules.

    Attributes:
        name: of it.
        vehicle: name of the one that it is drawn on.
        position: (3,) of its mark on that vehicle's central body [m].
        colors: of its states, by their numbers.
    """

    name: str
    vehicle: str
    position: Array
    colors: Sequence[Rgb]


def couplings_of(scenario: Scenario) -> tuple[Coupling, ...]:
    """Latches of a scenario, and the joints between its modules."""
    assemblies = {v.name: Assembly.of(v.platform, v.name) for v in scenario.vehicles}
    ends = {v.name: v.platform.ends for v in scenario.vehicles}
    colors = [LATCH_COLORS[phase] for phase in PHASES]
    couplings = []
    for name, latch in scenario.latches.items():
        vehicle, port = latch.probe.split("/")
        frame = PortFrame.of(ends[vehicle][port], assemblies[vehicle].p_FP_F)
        couplings.append(Coupling(name, vehicle, frame.position + ABOVE, colors))
    if scenario.modules is not None:
        colors = [JOINT_COLORS.get(state, MOVING_COLOR) for state in STATES]
        half = 0.5 * scenario.modules.size
        for name, joint in scenario.modules.joints.items():
            position = half * np.array(FACES[joint.face]) + ABOVE
            couplings.append(Coupling(name, joint.leader, position, colors))
    return tuple(couplings)


def has_points(sensor: SensorInfo) -> bool:
    """True if a sensor measures points: a lidar, or a camera that shows depth."""
    return isinstance(sensor, LidarInfo) or (
        isinstance(sensor, CameraSensorInfo) and "depth" in sensor.outputs
    )


def points_of(sensor: SensorInfo, reading: Reading) -> Array | None:
    """Points (n, 3) of a reading in its sensor's frame [m], at most `MOST_POINTS`; None where it has none."""
    if isinstance(reading, CloudReading):
        points = np.asarray(reading.points_S, dtype=float)
    elif isinstance(reading, ImageReading) and isinstance(sensor, CameraSensorInfo):
        if reading.encoding != DEPTH:
            return None
        points = _points_of_depth(sensor, np.asarray(reading.pixels))
    else:
        return None
    points = points[np.isfinite(points).all(axis=1)]
    return points[:: max(1, -(-len(points) // MOST_POINTS))]


def _points_of_depth(sensor: CameraSensorInfo, depth: Array) -> Array:
    """Points (n, 3) of some pixels of an image of depth along the view [m], in the camera's optical frame."""
    step = max(1, int(np.sqrt(depth.size / MOST_POINTS)))
    rows, columns = np.mgrid[step // 2 : depth.shape[0] : step, step // 2 : depth.shape[1] : step]
    K, lens = sensor.K, Lens.of(sensor.distortion_model, sensor.D, source=sensor.topic)
    pixels = np.stack([(columns - K[2]) / K[0], (rows - K[5]) / K[4]], axis=-1).reshape(-1, 2)
    z = depth[rows, columns].reshape(-1, 1).astype(float)
    return np.hstack([lens.undistort(pixels) * z, z])


def in_map(sensor: SensorInfo, points: Array, rows: Mapping[str, Array]) -> Array:
    """Points (n, 3) of a sensor's frame in `map` [m].

    Args:
        sensor: that measured them.
        points: in its frame [m].
        rows: (13,) states of what may carry it, see `rows_by_frame`.
    """
    points = so3.rotate(np.array(sensor.q_BS), points) + sensor.p_BS_B
    row = rows.get(sensor.parent)
    return points if row is None else np.asarray(so3.rotate(row[Q], points) + row[P])


def rows_by_frame(vehicles: Sequence[Assembly], steps: Sequence[Step]) -> dict[str, Array]:
    """States (13,) of all bodies of some vehicles, and of the links of their arms, by the names of their frames."""
    rows = dict[str, Array]()
    for vehicle, step in zip(vehicles, steps, strict=True):
        named = list(zip(vehicle.bodies, step.x, strict=True))
        rows |= {f"{vehicle.name}/{body.name}": row for body, row in named}
        if vehicle.arm is not None and step.arm is not None:
            links = link_rows(vehicle.arm, step.x[0], ChainState(step.arm.q, step.arm.v))
            pairs = zip(vehicle.arm.links, links, strict=True)
            rows |= {f"{vehicle.name}/{link.name}": row for link, row in pairs}
    return rows
