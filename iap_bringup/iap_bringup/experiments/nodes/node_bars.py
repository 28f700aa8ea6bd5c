# SPDX-License-Identifier: BSD-3-Clause
"""Bars of nodes with streams that networks deliver: poses with gaps and bursts in, depth images out.

A stream of poses as networks and players deliver it: with gaps, in bursts, with losses, and late.
"""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import CameraInfo, Image

from iap_bringup.experiments.nodes.listener import Listener, nodes_to_measure
from iap_bringup.experiments.nodes.measure import SIMULATION, START_TIMEOUT, wait_until
from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.experiments.rows import Bar, Report
from iap_bringup.launching.node_parameters import (
    reference_parameters,
    sensor_nodes,
    sensor_parameters,
    vehicle_nodes,
)
from iap_bringup.terminal.progress import counted
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q
from iap_io.ros.conversions import fill_pose, stamp_message
from iap_io.ros.node import EVERY
from iap_io.ros.sensor_topics import SENSOR_DATA
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import StateMessage
from iap_io.wire.stamps import SECOND, stamp_of, stamp_of_time
from iap_msgs.msg import PlatformState
from iap_msgs.srv import Step
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

HZ, DURATION = 40.0, 36.0
GAPS = {3.5: 0.05, 5.0: 0.2, 6.5: 0.5, 8.5: 1.0, 11.0: 2.0}  # begin and length [s]
BURSTS = ((16.0, 20.0, 0.1), (20.0, 25.0, 0.3))  # begin, end, and time between bursts [s]
LOSSES, LATE = (25.0, 30.0), (30.0, 35.0)  # begin and end [s]
LOST_SHARE, MAX_DELAY = 0.1, 0.1  # of poses; [s]
HEIGHT = 1.5  # about which it goes [m]
PLATFORMS = ("three_star", "star_5", "f450")
IMAGES = "depth images"  # the last piece of work
HEIGHT_BAR, TILT_BAR = 0.1, 35.0  # [m], [deg]
ARRIVED_BAR, IMAGE_TIME = 99.0, 20.0  # [%], [s of simulation time]
EPOCH = 10**18  # of the stream's own clock [ns]
REPORTED = 1.5  # within which diagnostics come again [s of wall time]


def stream() -> tuple[Array, Array]:
    """Stamps (n,) [s] and poses (n, 7) of a flight of up to 1.2 m/s and 0.5 rad/s that begins at rest."""
    t = np.arange(0.0, DURATION, 1.0 / HZ)
    u = np.clip(t / 3.0, 0.0, 1.0)
    ramp = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    p = [1.2 * np.sin(0.8 * t), 0.8 * np.sin(1.1 * t), 0.25 * np.sin(0.9 * t)]
    turn = [0.12 * np.sin(1.3 * t), 0.15 * np.sin(0.9 * t), 0.9 * np.sin(0.5 * t)]
    place = np.transpose(p) * ramp[:, None] + [0.0, 0.0, HEIGHT]
    return t, np.hstack([place, so3.quaternion_exp(np.transpose(turn) * ramp[:, None])])


def receptions(t: Array) -> Array:
    """Times of arrival of poses with stamps (n,) [s]; NaN for lost ones."""
    rng, out = np.random.default_rng(4), t.copy()
    for begin, length in GAPS.items():
        out[(t > begin) & (t < begin + length)] = np.nan
    for begin, end, each in BURSTS:
        part = (t >= begin) & (t < end)
        out[part] = np.ceil(t[part] / each + 1e-9) * each
    lossy = (t >= LOSSES[0]) & (t < LOSSES[1])
    out[lossy & (rng.random(len(t)) < LOST_SHARE)] = np.nan
    part = (t >= LATE[0]) & (t < LATE[1])
    out[part] = np.maximum.accumulate(t[part] + rng.uniform(0.0, MAX_DELAY, part.sum()))
    return out


class StreamFlight(Listener):
    """A paused flight that goes on between the poses of a stream, whatever time its nodes take.

    Args:
        vehicle: its name.
        dt: control period [s].
    """

    def __init__(self, vehicle: str, dt: float) -> None:
        super().__init__("node_bars")
        self._dt, self._k = dt, 0
        self.rows: dict[int, Array] = {}  # true states (bodies, 13) by stamp [ns]
        self.heights: dict[int, float] = {}  # of the reference that is tracked, by stamp [ns] [m]
        self._poses = self.node.create_publisher(PoseStamped, f"/{vehicle}/reference/pose", EVERY)
        self._steps = self.node.create_client(Step, "/step")
        self._reader = MessageReader(StateMessage)
        states, tracked = f"/{vehicle}/state", f"/{vehicle}/reference/tracked/pose"
        self.node.create_subscription(PlatformState, states, self._on_state, EVERY, raw=True)
        self.node.create_subscription(PoseStamped, tracked, self._on_tracked, EVERY)

    def _on_state(self, data: bytes) -> None:
        state = self._reader.read(data)
        self.rows[state.stamp] = state.rows.copy()

    def _on_tracked(self, pose: PoseStamped) -> None:
        stamp = pose.header.stamp
        self.heights[stamp.sec * SECOND + stamp.nanosec] = pose.pose.position.z

    def fly(self, t: Array, poses: Array, received: Array) -> None:
        """Fly a stream: stamps (n,) [s], poses (n, 7), and when they come [s].

        Raises:
            BadInput: the nodes do not start, or time stands.
        """
        self.wait(lambda: bool(self.rows and self._is_met()), "the nodes", START_TIMEOUT)
        for i in np.flatnonzero(~np.isnan(received)):
            self._step_to(math.ceil(received[i] / self._dt - 1e-6))
            self._send(t[i], poses[i])
        self._step_to(round(DURATION / self._dt))
        ended = time.monotonic() + REPORTED
        self.wait(lambda: self.times.get(SIMULATION, 0.0) > ended, "diagnostics", START_TIMEOUT)

    def _is_met(self) -> bool:
        return self._poses.get_subscription_count() > 0 and self._steps.service_is_ready()

    def _send(self, t: float, pose: Array) -> None:
        message = PoseStamped()
        message.header.frame_id = "map"
        message.header.stamp = stamp_message(EPOCH + stamp_of_time(t))
        fill_pose(message.pose, pose)
        self._poses.publish(message)

    def _step_to(self, k: int) -> None:
        if k <= self._k:
            return
        answer = self._steps.call_async(Step.Request(steps=k - self._k))
        self.wait(answer.done, f"steps up to t = {k * self._dt:.3f} s", START_TIMEOUT)
        response = answer.result()
        if response is None or not response.success:
            raise BadInput(f"step: {response.message if response else 'no answer'}")
        self._k = k


def stream_bars(platform: str) -> Iterator[Bar]:
    """Motion of a platform while poses come with gaps of 0.05 to 2 s, in bursts, with losses and late."""
    t, poses = stream()
    start = f"reference.position={poses[0, :3].tolist()}"
    scenario, _ = resolve("hover", Options(platform=platform, assignments=(start,)))
    vehicle = scenario.vehicles[0]
    with nodes_to_measure() as nodes:
        flight = StreamFlight(vehicle.name, scenario.dt)
        with nodes:
            for name, values in vehicle_nodes(scenario, vehicle).items():
                nodes.start(name, values, namespace=f"/{vehicle.name}")
            parameters = {"scenario": "hover", "platform": platform, "assignments": [start]}
            nodes.start("physics_node", {**parameters, "pace": "lockstep", "start_paused": True})
            flight.fly(t, poses, receptions(t))
    rows, heights = flight.rows, flight.heights
    off = [abs(rows[stamp][0, 2] - height) for stamp, height in heights.items() if stamp in rows]
    x = np.array(list(rows.values()))
    up = 1.0 - 2.0 * (x[..., Q][..., 0] ** 2 + x[..., Q][..., 1] ** 2)
    crashed = flight.text(SIMULATION, "outcome") != ""
    yield Bar(f"{platform}: crashed", float(crashed), 0.0)
    yield Bar(
        f"{platform}: height off its reference by, m",
        float(max(off, default=math.inf)),
        HEIGHT_BAR,
    )
    yield Bar(f"{platform}: largest tilt, deg", float(np.rad2deg(np.arccos(up.min()))), TILT_BAR)


def image_bar() -> Bar:
    """The share of depth images of 640 x 480 at 20 Hz, best effort, that reach one subscriber in real time."""
    options = {"platform": "f450", "sensors": "rgbd", "scene": "textured_walls"}
    scenario, _ = resolve("hover", Options(**options))
    with nodes_to_measure() as nodes:
        listener = Listener("node_bars")
        stamps: dict[str, set[int]] = {}
        for kind, name in ((Image, "depth/image_raw"), (CameraInfo, "depth/camera_info")):
            came = stamps[name] = set[int]()
            topic = f"/{scenario.vehicles[0].name}/rgbd/{name}"
            listener.node.create_subscription(
                kind,
                topic,
                lambda data, came=came: came.add(stamp_of(data)),
                SENSOR_DATA,
                raw=True,
            )
        with nodes:
            _start_sensing(nodes, scenario, {"scenario": "hover", **options})
            wait_until(listener, 1.0, START_TIMEOUT)
            listener.wait(lambda: all(stamps.values()), "depth images", START_TIMEOUT)
            first = max(map(min, stamps.values()))
            wait_until(listener, first / SECOND + IMAGE_TIME, START_TIMEOUT)
    images, infos = ({each for each in came if each >= first} for came in stamps.values())
    sent = images | infos
    return Bar("depth images that arrive, %", 100.0 * len(images) / len(sent), ARRIVED_BAR, True)


def _start_sensing(nodes: Nodes, scenario: Scenario, parameters: dict[str, str]) -> None:
    """Start a flight whose sensors have the quality of service that they have by default."""
    for vehicle in scenario.vehicles:
        space, values = f"/{vehicle.name}", reference_parameters(scenario, vehicle)
        nodes.start("reference_node", values, namespace=space, package="iap_control")
        for name, values in vehicle_nodes(scenario, vehicle).items():
            nodes.start(name, values, namespace=space)
    for name in sensor_nodes(scenario):
        nodes.start(name, sensor_parameters(scenario))
    nodes.start("physics_node", {**parameters, "pace": "realtime"})


def node_bars(report: Report, platforms: Sequence[str] = PLATFORMS) -> list[Bar]:
    """All bars.

    Raises:
        BadInput: the nodes are not built, or do not start.
    """
    bars = []
    for platform in counted(report, [*platforms, IMAGES]):
        bars += [image_bar()] if platform == IMAGES else stream_bars(platform)
    return bars
