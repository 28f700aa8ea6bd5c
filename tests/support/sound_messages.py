# SPDX-License-Identifier: BSD-3-Clause
"""Every node of the suite on a bench, with sound messages for each of its inputs."""

import json
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from node_bench import Said
from stage import PARAMETERS, SCENE, Play
from standing_vehicles import StandingScenario

from iap_bringup.launching.node_parameters import (
    ADMITTANCE,
    controller_parameters,
    coordinator_parameters,
    localization_nodes,
    observer_parameters,
    physics_parameters,
    reference_parameters,
    sensor_parameters,
    vehicle_nodes,
)
from iap_bringup.nodes.joy_teleop import JoyTeleop
from iap_bringup.nodes.keyboard_teleop import KeyboardTeleop
from iap_bringup.nodes.recorder import RecorderNode
from iap_bringup.nodes.sensor_player import SensorPlayer
from iap_bringup.nodes.web_view import WebViewNode
from iap_control.actuation.kinds import platform_model
from iap_control.allocation.allocator import Allocator
from iap_control.nodes.admittance_node import AdmittanceNode
from iap_control.nodes.controller_node import ControllerNode
from iap_control.nodes.coordinator_node import CoordinatorNode
from iap_control.nodes.reference_node import ReferenceNode
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.states import Command, Q
from iap_description.vehicles.assembly import Assembly
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_estimation.nodes.capture_node import CaptureNode
from iap_estimation.nodes.centre_node import CentreNode
from iap_estimation.nodes.frontend_node import FrontendNode
from iap_estimation.nodes.joint_node import JointNode
from iap_estimation.nodes.virpo_node import VirpoNode
from iap_estimation.nodes.wrench_observer_node import WrenchObserverNode
from iap_io.ros.node import SuiteNode
from iap_io.sensor_messages.sensor_messages import encoder
from iap_io.wire.cdr import message, serialised
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import (
    AccelMessage,
    ForceTaskMessage,
    InertialMessage,
    OdometryMessage,
    PoseMessage,
    TwistMessage,
    WrenchMessage,
)
from iap_learning.nodes.policy_node import PolicyNode
from iap_physics.nodes.physics_node import PhysicsNode
from iap_sensors.nodes.camera_node import CameraNode
from iap_sensors.nodes.imu_node import ImuNode
from iap_sensors.nodes.lidar_node import LidarNode
from iap_sensors.nodes.uwb_node import UwbNode
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario

PERIOD = 5_000_000  # [ns]
CLOSED_FORM = ("engine.name=closed_form",)
BASE = "iap/base_link"
BY_THE_TRUTH = (  # modules as they are measured, since nothing here makes estimates
    "vehicles.*.sensors=none",
    "vehicles.*.control.state_source=truth",
    "vehicles.*.state_noise={position: 0.01, attitude_deg: 0.17, velocity: 0.0, rate_deg: 0.0}",
)
BY_CAPTURE = "module_hover"  # scenario, whose only vehicle has a motion capture
STANDING = (
    "docking",
    "docking_depth",
    "module_docking",
    "navigate",
    "perch_on_wall",
    BY_CAPTURE,
)  # scenarios, and simulations' namespaces
CHANGES = {
    "module_docking": BY_THE_TRUTH,
    "perch_on_wall": ("policy=perch_on_wall", "engine.name=mujoco"),
    BY_CAPTURE: ("modules.count=1",),
}
WRENCHES = ("raw", "filtered", "estimated")


class Script:
    """Messages at each instant of a flight of three aircraft, for all topics of the suite."""

    def __init__(self, duration: float) -> None:
        self._play = Play(duration)
        self.instants = len(self._play.states)
        self._said: dict[int, list[Said]] = defaultdict(list)
        for t, topic, _, data in self._play.words:
            self._said[round(t * 200)].append((topic, data))
        platform = SCENE.vehicles[0].platform
        assembly = Assembly.of(platform, "iap")
        model = platform_model(assembly, platform.fleet, gravity=9.81, com_coupling=True)
        self._allocator = Allocator(model, rate_filter=0.0, dt=1.0 / 200)
        self._weight = np.array([0.0, 0.0, 9.81 * model.inertia.mass, 0.0, 0.0, 0.0])
        self._state = StateMessage.of(assembly, 12)
        self._base = StateMessage.of_names(["base_link"])
        self._reference, self._command = ReferenceMessage.of(3), CommandMessage.of(3)
        self._wrench, self._task = WrenchMessage.of(BASE), ForceTaskMessage.of(BASE)
        self._pose, self._twist, self._accel = (
            PoseMessage._of(),
            TwistMessage._of(),
            AccelMessage._of(),
        )
        self._odometry = OdometryMessage.of("iap/drone_1_imu")
        self._units = [
            f"iap/{each}_imu" for each in ("base_link", "drone_1", "drone_2", "drone_3")
        ]
        self._samples = InertialMessage.of(BASE, self._units, 1)
        infos = Flight.of(SCENE).sensors.suite.infos
        cameras = [each for each in infos if isinstance(each, CameraSensorInfo)]
        self._cameras = {each.topic: (each, encoder(each)) for each in cameras}
        self._standing = [
            StandingScenario(scenario_of(each, *CHANGES.get(each, ())), f"/{each}")
            for each in STANDING
        ]
        grain = np.random.default_rng(0).integers(0, 255, (61, 81), dtype=np.uint8)
        self._image = np.kron(grain, np.ones((8, 8), np.uint8))

    def __call__(self, k: int) -> list[Said]:
        """All that is said at an instant."""
        k %= self.instants
        standing = [said for each in self._standing for said in each(k)]
        return [*self._said[k], *self._control(k), *self._sensed(k), *standing]

    def _control(self, k: int) -> list[Said]:
        stamp, x = k * PERIOD, self._play.states[k]
        row = np.r_[x[0], np.zeros(6 + 3)]
        row[2] += 0.1
        wrench_P = np.array([0.5, 0.1, -1.0, 0.0, 0.01, 0.0])
        for each in (self._state, self._base, self._reference, self._command, self._task):
            each.put_head(stamp, k)
        self._state.put_rows(x, np.full((3, 4), 4000.0))
        self._base.put_rows(x[:1], np.zeros((0, 4)))
        self._reference.put_row(row, 0, np.zeros(6))
        self._allocator.reset()  # what is said shall depend on the instant alone
        self._command.put(self._allocator.allocate(self._weight, x[0, Q]))
        self._wrench.put_wrench(stamp, wrench_P)
        wrench = self._wrench.dump()
        said = [
            ("/iap/state/measured", self._base.dump()),
            ("/iap/state/estimated", self._state.dump()),
            ("/iap/reference", self._reference.dump()),
            ("/iap/reference/revised", self._reference.dump()),
            *((f"/iap/wrench/{kind}", wrench) for kind in (*WRENCHES, "reference")),
            ("/iap/wrench/task", self._task.dump()),
            ("/iap/command", self._command.dump()),
            ("/iap/command/wrench", self._wrench_command(stamp, k)),
        ]
        return said + [(f"/lone/{topic}", data) for topic, data in self._simple(k)]

    def _wrench_command(self, stamp: int, k: int) -> bytes:
        order, out = Command.zeros(3), CommandMessage.of(3)
        order.mode, order.wrench_P[:] = 0, self._weight
        out.put(order)
        out.put_head(stamp, k)
        return out.dump()

    def _simple(self, k: int) -> list[Said]:
        x = self._play.states[k][0]
        self._pose.pose[:] = x[:7]
        self._twist.rates[:], self._accel.rates[:] = x[7:13], 0.1
        for each in (self._pose, self._twist, self._accel):
            each.put_head(k * PERIOD, 0)
        inputs = [("pose", self._pose), ("twist", self._twist), ("accel", self._accel)]
        name, chosen = inputs[k // 30 % 3]
        return [("state", self._state.dump()), (f"reference/{name}", chosen.dump())]

    def _sensed(self, k: int) -> list[Said]:
        stamp, said = k * PERIOD, []
        self._samples.put_head(stamp, k)
        at_rest = np.tile([0.0, 0.0, 9.81], (1, 4, 1))
        q_WB = self._play.states[k][:, Q]
        self._samples.put_samples(q_WB, np.array([stamp]), np.zeros((1, 4, 3)), at_rest)
        said.append(("/iap/inertial", self._samples.dump()))
        for a in range(3):
            self._odometry.put_head(stamp, 0)
            self._odometry.pose[:] = self._play.unit(a, k / 200)[:7]
            space = f"/iap/drone_{a + 1}/virpo"
            said += [
                (f"{space}/{name}", self._odometry.dump())
                for name in ("head", "shared", "odometry")
            ]
        if k % 10 == 0:
            for topic, (info, encode) in self._cameras.items():
                reading = ImageReading(
                    SensorSource(topic, info.frame),
                    k / 200,
                    "mono8",
                    self._image[: info.height, : info.width],
                )
                said += [(t, b"".join(parts)) for t, parts in encode(reading)]
        said.append(("/diagnostics", _diagnostics()))
        said.append(
            (
                "/iap/joy",
                serialised(
                    message(
                        "sensor_msgs/msg/Joy",
                        axes=np.zeros(8, np.float32),
                        buttons=np.ones(11, np.int32),
                    )
                ),
            )
        )
        return said


def _diagnostics() -> bytes:
    pairs = {"control_step_us": "17.5", "collisions": "[]", "outcome": ""}
    values = [message("diagnostic_msgs/msg/KeyValue", key=k, value=v) for k, v in pairs.items()]
    status = message(
        "diagnostic_msgs/msg/DiagnosticStatus", name="physics_node: simulation", values=values
    )
    return serialised(message("diagnostic_msgs/msg/DiagnosticArray", status=[status]))


@cache
def scenario_of(name: str, *assignments: str, **options: Any) -> Scenario:
    return resolve(name, Options(assignments=assignments, **options))[0]


def _hover() -> dict[str, Any]:
    scenario = scenario_of("hover", *CLOSED_FORM)
    return controller_parameters(scenario, scenario.vehicles[0])


def _pushing() -> dict[str, Any]:
    scenario = scenario_of("wall_push")
    return controller_parameters(scenario, scenario.vehicles[0])


def _yielding() -> dict[str, Any]:
    scenario = scenario_of("peg_in_hole")
    return vehicle_nodes(scenario, scenario.vehicles[0])[ADMITTANCE]


def _recorded(folder: Path) -> dict[str, Any]:
    return {
        "scenario": "figure_eight",
        "assignments": list(CLOSED_FORM),
        "sensors": "imu,uwb",
        "duration": 1000.0,
        "out": str(folder / "run"),
        "plot": False,
    }


def _shown() -> dict[str, Any]:
    return {"scenario": "figure_eight", "assignments": list(CLOSED_FORM), "port": 0}


def _viewer() -> SuiteNode:
    node = WebViewNode()
    node.flight.work(is_watched=True)
    return node


def _played(folder: Path) -> dict[str, Any]:
    record(
        "hover", folder=folder / "played", settings={"engine.name": "closed_form"}, duration=0.1
    )
    return {"run": str(folder / "played"), "until": ["iap/drone_1/virpo/odometry"]}


def _reference() -> SuiteNode:
    scenario = scenario_of("three_star_spiral", *CLOSED_FORM)
    return ReferenceNode(parameters=reference_parameters(scenario, scenario.vehicles[0]))


def _physics() -> SuiteNode:
    options = {"sensors": "stereo", "scene": "textured_walls", "state_source": "joint"}
    scenario = scenario_of("figure_eight", *CLOSED_FORM, **options)
    return PhysicsNode(parameters={**physics_parameters(scenario), "pace": "lockstep"})


def _observer() -> SuiteNode:
    scenario = scenario_of("wall_push")
    given = observer_parameters(scenario, scenario.vehicles[0])
    return WrenchObserverNode(parameters={**given, "measured_topic": "state/measured"})


def _observer_by_units() -> SuiteNode:
    scenario = scenario_of("wall_push", "control.observer=acceleration", sensors="imu")
    return WrenchObserverNode(parameters=observer_parameters(scenario, scenario.vehicles[0]))


def _sensing(kind: Callable[..., SuiteNode], sensors: str = "imu,uwb,lidar") -> SuiteNode:
    scenario = scenario_of("figure_eight", *CLOSED_FORM, sensors=sensors)
    return kind(parameters=sensor_parameters(scenario))


def _coordinator() -> SuiteNode:
    own = ("modules.wrench_source=joint", *BY_THE_TRUTH)
    parameters = coordinator_parameters(scenario_of("module_docking", *own))
    return CoordinatorNode("module_docking", parameters=parameters)


def _captured() -> SuiteNode:
    scenario = scenario_of(BY_CAPTURE, *CHANGES[BY_CAPTURE])
    (vehicle,) = scenario.vehicles
    ((_, space, parameters),) = localization_nodes(scenario, vehicle, CAPTURE_INERTIAL)
    return CaptureNode(f"{BY_CAPTURE}{space}", parameters=parameters)


def _policy(scenario: str) -> SuiteNode:
    assignments = list(CHANGES.get(scenario, ("",)))
    return PolicyNode(scenario, parameters={"scenario": scenario, "assignments": assignments})


VIRPO = {**PARAMETERS, "method": "virpo"}
# How each node is made, and whether its words follow, bit for bit, from what it hears.
NODES: dict[str, tuple[Callable[[], SuiteNode], bool]] = {
    "controller_node": (ControllerNode, True),
    "controller_node of simple inputs": (lambda: ControllerNode("lone"), True),
    "admittance_node": (AdmittanceNode, True),
    "reference_node": (_reference, True),
    "physics_node": (_physics, True),
    "coordinator_node": (_coordinator, True),
    "policy_node of a pair": (lambda: _policy("docking"), True),
    "policy_node of a pair that sees": (lambda: _policy("docking_depth"), True),
    "policy_node that sees": (lambda: _policy("navigate"), True),
    "policy_node that touches": (lambda: _policy("perch_on_wall"), True),
    "wrench_observer_node": (_observer, True),
    "wrench_observer_node by units": (_observer_by_units, False),
    "imu_node": (lambda: _sensing(ImuNode), False),
    "uwb_node": (lambda: _sensing(UwbNode), False),
    "lidar_node": (lambda: _sensing(LidarNode), False),
    "camera_node": (lambda: _sensing(CameraNode, "depth"), False),
    "frontend_node": (lambda: FrontendNode(parameters=PARAMETERS), False),
    "virpo_node": (lambda: VirpoNode(parameters=VIRPO), False),
    "joint_node": (lambda: JointNode(parameters=PARAMETERS), False),
    "capture_node": (_captured, False),
    "centre_node": (lambda: CentreNode(parameters=PARAMETERS), False),
    "recorder": (RecorderNode, False),
    "sensor_player": (SensorPlayer, False),
    "joy_teleop": (JoyTeleop, False),  # by the wall clock, too
    "keyboard_teleop": (KeyboardTeleop, True),
    "web_view": (_viewer, False),
}


def begin(name: str, folder: Path) -> None:
    """Begin with rclpy; some nodes take their parameters from the process alone."""
    needed: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
        "controller_node": ("/iap/controller_node", _pushing),
        "controller_node of simple inputs": ("/lone/controller_node", _hover),
        "admittance_node": ("/iap/admittance_node", _yielding),
        "recorder": ("/recorder", lambda: _recorded(folder)),
        "web_view": ("/web_view", _shown),
        "sensor_player": ("/sensor_player", lambda: _played(folder)),
    }
    arguments = []
    if name in needed:
        node, given = needed[name]
        path = folder / "parameters.yaml"
        path.write_text(json.dumps({node: {"ros__parameters": given()}}))
        arguments = ["--ros-args", "--params-file", str(path)]
    rclpy.init(args=arguments)
