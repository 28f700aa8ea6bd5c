# SPDX-License-Identifier: BSD-3-Clause
"""A person's hand on a flight of nodes: its time by services, its references by the simple inputs."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped
from rclpy.client import Client
from std_srvs.srv import SetBool, Trigger

from iap_bringup.viewing.control import KEY_TIME
from iap_bringup.viewing.layers import Steps
from iap_description.arrays import Array
from iap_description.frames import MAP
from iap_description.math import so3
from iap_description.states import Q
from iap_io.ros.conversions import fill_pose, fill_twist
from iap_io.ros.node import SuiteNode
from iap_io.runs import topics
from iap_msgs.srv import Step as StepService

QUEUE = 10


class ServiceControl:
    """Time of a simulation by the services of its physics_node.

    Args:
        node: in the simulation's namespace.
        order: lets work be done in the thread of the node's executor.
    """

    speed: float = 1.0
    speeds: Sequence[float] = ()  # the pace is physics_node's

    def __init__(self, node: SuiteNode, order: Callable[[Callable[[], None]], None]) -> None:
        self._logger, self._order = node.get_logger(), order
        self._pause = node.create_client(SetBool, "pause")
        self._step = node.create_client(StepService, "step")
        self._reset = node.create_client(Trigger, "reset")
        self._is_paused = False

    @property
    def is_paused(self) -> bool:
        """True if it was paused here; False while it goes on."""
        return self._is_paused

    @is_paused.setter
    def is_paused(self, is_paused: bool) -> None:
        self._is_paused = is_paused
        self._order(lambda: self._call(self._pause, SetBool.Request(data=is_paused)))

    def step(self) -> None:
        """Fly one control period, and pause."""
        self._is_paused = True
        ahead = partial(self._call, self._step, StepService.Request(steps=1))
        self._order(lambda: self._call(self._pause, SetBool.Request(data=True), ahead))

    def reset(self) -> None:
        """Back to the start; a paused simulation stays paused."""
        self._order(lambda: self._call(self._reset, Trigger.Request()))

    def _call(
        self,
        client: Client,
        request: Any,  # noqa: ANN401 - as the service has it
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        """Call a service, and then do something; what is refused is logged."""
        if not client.service_is_ready():
            self._logger.warning(f"nobody serves {client.srv_name}")
            return

        def on_answer(answer: Any) -> None:  # noqa: ANN401 - a future
            response = answer.result()
            if response.success:
                afterwards()
            else:
                self._logger.warning(f"{client.srv_name}: {response.message}")

        client.call_async(request).add_done_callback(on_answer)


class TopicHand:
    """A person's hand on the references of vehicles by the simple inputs `reference/pose` and `reference/twist`.

    Args:
        node: in the simulation's namespace.
        names: of the vehicles.
        steps: returns the vehicles' steps that are shown; empty before the first.
        order: lets work be done in the thread of the node's executor.
    """

    def __init__(
        self,
        node: SuiteNode,
        names: Sequence[str],
        steps: Callable[[], Steps],
        order: Callable[[Callable[[], None]], None],
    ) -> None:
        self._node, self._steps, self._order = node, steps, order
        spaces = [node.absolute(name) for name in names]
        self._whole = [node.resolve_topic_name(f"{each}/{topics.REFERENCE}") for each in spaces]
        self._poses, self._twists = (
            [node.create_publisher(kind, f"{space}/{topic}", QUEUE) for space in spaces]
            for kind, topic in (
                (PoseStamped, topics.REFERENCE_POSE),
                (TwistStamped, "reference/twist"),
            )
        )
        self._flights: dict[int, tuple[Array, float]] = {}  # twists, and until when they count

    def hindrance(self, vehicle: int) -> str:
        """Why a vehicle cannot be led by hand now, and what helps; empty where it can."""
        whole = self._whole[vehicle]
        if self._node.count_publishers(whole):
            return f"Others publish {whole}: launch with reference:=false."
        if not self._twists[vehicle].get_subscription_count():
            return f"Nobody listens to {self._twists[vehicle].topic_name}."
        return ""

    def drag(self, vehicle: int, pose: Array) -> None:
        """Let a vehicle's reference go to a pose (7,), as its controller follows poses."""
        message = PoseStamped()
        message.header.frame_id = MAP
        fill_pose(message.pose, pose)

        def publish() -> None:
            self._flights.pop(vehicle, None)
            self._poses[vehicle].publish(message)

        self._order(publish)

    def fly(self, vehicle: int, twist: Array) -> None:
        """Fly for `KEY_TIME` with a twist (4,): velocity along the heading [m/s] and yaw rate [rad/s]."""
        until = time.monotonic() + KEY_TIME
        self._order(lambda: self._flights.update({vehicle: (twist, until)}))

    def release(self) -> None:
        """Lead no vehicle any longer; each stays where its reference is."""
        self._order(self._flights.clear)

    def publish(self) -> None:
        """Publish the twists that count, and a last one of zero each."""
        now = time.monotonic()
        for vehicle, (twist, until) in list(self._flights.items()):
            if now < until:
                self._publish_twist(vehicle, twist)
            else:
                del self._flights[vehicle]
                self._publish_twist(vehicle, np.zeros(4))

    def _publish_twist(self, vehicle: int, twist: Array) -> None:
        steps = self._steps()
        if not steps:
            return
        ahead = so3.rotate(steps[vehicle].x[0, Q], np.array([1.0, 0.0, 0.0]))
        c, s = ahead[:2] / np.linalg.norm(ahead[:2])
        x, y, z, rate = twist.tolist()
        message = TwistStamped()
        message.header.frame_id = MAP
        fill_twist(message.twist, np.array([c * x - s * y, s * x + c * y, z, 0.0, 0.0, rate]))
        self._twists[vehicle].publish(message)
