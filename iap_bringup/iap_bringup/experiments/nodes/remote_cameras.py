# SPDX-License-Identifier: BSD-3-Clause
"""A flight whose camera_node is on another machine, behind a link that delays and loses: what arrives, and when.

python -m iap_bringup.experiments.nodes.remote_cameras flies once, with all nodes in the network of this process.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from json import dumps, loads
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rich.console import Console
from sensor_msgs.msg import CompressedImage

from iap_bringup.experiments.nodes.delayed_link import DelayedLink, in_network
from iap_bringup.experiments.nodes.processes import Nodes
from iap_bringup.experiments.rows import print_json
from iap_bringup.launching.flight_nodes import CAMERA, LaunchedNode, flight_nodes
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import work_bar
from iap_bringup.terminal.tables import show_columns
from iap_description.errors import BadInput
from iap_io.ros.domains import free_domain
from iap_io.ros.sensor_topics import RELIABLE
from iap_io.wire.cdr import decoded
from iap_io.wire.stamps import SECOND, stamp_of
from iap_msgs.msg import PlatformState
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import sensor_infos
from iap_simulation.scenario.scenario import Scenario

MODULE = "iap_bringup.experiments.nodes.remote_cameras"
DURATION = 10.0  # [s of simulation time]
DELAY, LOSS = 0.02, 0.01  # of the link: [s], share of frames
START_TIMEOUT = 600.0  # wall time until all cameras are there, and without a message [s]
SIZE = {"width": 160, "height": 120, "fx": 80.0, "fy": 80.0, "cx": 79.5, "cy": 59.5}  # [pixels]
SMALL_IMAGES = tuple(
    f"sensors.cameras.{side}.{key}={value}"
    for side in ("left", "right")
    for key, value in SIZE.items()
)
OPTIONS: dict[str, Any] = {
    "sensors": "stereo",
    "scene": "textured_walls",
    "assignments": SMALL_IMAGES,
    "duration": 300.0,
}


class ImageArrivals:
    """The states of a vehicle and the images of its cameras as they come to a node beside physics_node."""

    def __init__(self, scenario: Scenario) -> None:
        self.node = rclpy.create_node("arrivals")
        self.states: dict[int, float] = {}  # wall time [s] by stamp [ns]
        self.newest = -1  # stamp of a state [ns]
        self.images: dict[str, list[tuple[int, int, str]]] = {}  # stamp, age [ns], frame
        self.frames: dict[str, str] = {}
        (name,) = (each.name for each in scenario.vehicles)
        self._hear(PlatformState, f"/{name}/state", self._on_state)
        for info in sensor_infos(scenario):
            if info.kind == "camera":
                topic = f"{info.topic}/image_raw/compressed"
                self.images[topic], self.frames[topic] = [], info.frame
                self._hear(CompressedImage, topic, lambda data, to=topic: self._on_image(to, data))

    def _hear(self, kind: type, topic: str, take: Any) -> None:  # noqa: ANN401 - a callback
        self.node.create_subscription(kind, topic, take, RELIABLE, raw=True)

    def _on_state(self, data: bytes) -> None:
        self.newest = stamp_of(data)
        self.states[self.newest] = time.monotonic()

    def _on_image(self, topic: str, data: bytes) -> None:
        stamp = stamp_of(data)
        frame = decoded(data, "sensor_msgs/msg/CompressedImage").header.frame_id
        self.images[topic].append((stamp, self.newest - stamp, frame))

    def are_shown(self, first: int) -> bool:
        """True if each camera has an image of a stamp [ns] or later."""
        return all(came and came[-1][0] >= first for came in self.images.values())

    def spin_until(self, holds: Any, what: str) -> None:  # noqa: ANN401 - a condition
        """Take messages until something holds.

        Raises:
            BadInput: no message comes that changes it.
        """
        until = time.monotonic() + START_TIMEOUT
        while not holds():
            if time.monotonic() > until:
                raise BadInput(f"{what}: not within {START_TIMEOUT:.0f} s")
            rclpy.spin_once(self.node, timeout_sec=0.2)

    def figures(self, first: int) -> dict[str, Any]:
        """Figures of the images from a stamp [ns] on."""
        stamps = sorted(each for each in self.states if each >= first)
        wall = self.states[stamps[-1]] - self.states[stamps[0]]
        counted = {n: [e for e in came if e[0] >= first] for n, came in self.images.items()}
        every = [each for came in counted.values() for each in came]
        span = (stamps[-1] - stamps[0]) / SECOND
        return {
            "physics_hz": round(200.0 * span / wall, 1),
            "states": len(stamps),
            "least_images_hz": round(min(len(came) for came in counted.values()) / span, 1),
            "strays": sum(each[0] not in self.states for each in every),
            "repeated": len(every) - len({(n, e[0]) for n, came in counted.items() for e in came}),
            "wrong_frames": sum(e[2] != self.frames[n] for n, c in counted.items() for e in c),
            "age_ms_median": round(float(np.median([each[1] for each in every])) / 1e6, 1),
        }


def fly(space: str, duration: float, folder: Path, domain: int) -> dict[str, Any]:
    """Fly, with camera_node in another network or beside the rest.

    Args:
        space: the other network's namespace; empty: all nodes are in this one.
        duration: that counts, from the first image of all cameras on [s of simulation time].
        folder: for parameters and logs.
        domain: ROS_DOMAIN_ID.

    Raises:
        BadInput: no images come, or time stands.
    """
    scenario, _ = resolve("figure_eight", Options(**OPTIONS))
    arguments = {"reference": "true", "record": "false", "pace": "realtime", "localization": ""}
    launched = flight_nodes(scenario, {"bag": ""}, arguments)
    here = Nodes(folder, domain)
    there = Nodes(folder, domain, partial(_start_in, space)) if space else here
    reach = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET" if space else "LOCALHOST"}
    for nodes in (here, there):
        nodes.environment.update(reach)
    os.environ.update({"ROS_DOMAIN_ID": str(domain), **reach})
    rclpy.init()
    try:
        arrivals = ImageArrivals(scenario)
        with here, there:
            for each in launched:
                _start(there if each.executable == CAMERA else here, each)
            arrivals.spin_until(lambda: all(arrivals.images.values()), "images of all cameras")
            first = arrivals.newest
            last = first + round(duration * SECOND)
            arrivals.spin_until(
                lambda: arrivals.newest > last and arrivals.are_shown(first),
                "the end of the flight",
            )
        return arrivals.figures(first)
    finally:
        rclpy.try_shutdown()


def _start(nodes: Nodes, node: LaunchedNode) -> None:
    values = dict(node.parameters)
    if node.executable == CAMERA:
        values |= {"compression": "jpeg", "reliable": True}
    space = f"/{node.space}" if node.space else ""
    nodes.start(node.executable, values, namespace=space, package=node.package)


def _start_in(space: str, command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":  # noqa: ANN401
    return subprocess.Popen(in_network(space, command), **options)


def compare_remote_cameras(console: Console, *, json: bool) -> None:
    """Measure both, and print the figures."""
    with work_bar(make_console(stderr=True), "one machine") as report:
        results = {"one machine": beside(DURATION)}
        report("across the link")
        results["across the link"] = across(DURATION)
    if json:
        print_json(console, results)
    else:
        show_columns(console, "three aircraft, six cameras of 20 Hz, 160x120", results)


def beside(duration: float) -> dict[str, Any]:
    """Figures of images that arrive of a camera_node beside physics_node.

    Args:
        duration: of the flight [s of simulation time].

    Raises:
        BadInput: the flight does not start.
    """
    return _figures_of(_command("", duration))


def across(duration: float, delay: float = DELAY, loss: float = LOSS) -> dict[str, Any]:
    """Figures of images that arrive of a camera_node across a link.

    Args:
        duration: of the flight [s of simulation time].
        delay: of the link [s].
        loss: share of its frames.

    Raises:
        BadInput: network namespaces are not allowed, or the flight does not start.
    """
    with DelayedLink(delay, loss) as link:
        here, there = link.names
        figures = _figures_of(in_network(here, _command(there, duration)))
        return {**figures, "frames": link.frames, "frames_lost": link.lost}


def _command(space: str, duration: float) -> list[str]:
    return [sys.executable, "-P", "-m", MODULE, "--space", space, "--duration", str(duration)]


def _figures_of(command: Sequence[str]) -> dict[str, Any]:
    """The figures of a flight in a process of its own, since a process is in one network."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(f"remote_cameras: {done.stderr.strip().splitlines()[-1]}")
    figures: dict[str, Any] = loads(done.stdout.splitlines()[-1])
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Fly once in the network that this process is in, and print the figures."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--space", default="", help="namespace of camera_node's network")
    parser.add_argument("--duration", type=float, default=10.0, help="[s]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, free_domain() as domain:
        try:
            figures = fly(options.space, options.duration, Path(folder), domain)
        except BadInput as error:
            sys.stderr.write(f"{error}\n")
            return 2
    print(dumps(figures))  # noqa: T201 - for the process that measures
    return 0


if __name__ == "__main__":
    sys.exit(main())
