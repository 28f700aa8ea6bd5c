# SPDX-License-Identifier: BSD-3-Clause
"""setpoint_node: set-points of outside controllers become commands or references, one for each state."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import numpy as np
import rclpy
from autopilot_messages import stand_in

from iap_control.nodes.setpoint_node import SetpointNode
from iap_control.offboard.kinds import make_reader
from iap_description.errors import BadInput
from iap_description.states import REF_A, REF_P, REF_Q, REF_V, REF_W, Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_io.ros.node_inputs import NodeInputs
from iap_io.wire.message_reader import MessageReader
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage

PAGE = Path(__file__).parents[3] / "docs/how_to/hardware.md"
pytestmark = pytest.mark.ros
PERIOD = 5_000_000  # [ns]
NOTHING = [math.nan] * 3


class Bench:
    """A node between stand-ins: messages in, what it publishes out."""

    def __init__(self, node, takes, odometry, platform):
        self.node, self._takes, self.odometry, self.k = node, takes, odometry, 0
        self.x = np.zeros((1 + len(load_platform(platform).joints), 13))
        self.x[:, 6], self.x[:, 2] = 1.0, 1.0
        self._state = StateMessage.of(Assembly.of(load_platform(platform)), 4)
        self.commands, self.references = [], []

    def hear(self, topic, name, **fields):
        message = stand_in(f"x/msg/{name}")()
        for key, value in fields.items():
            setattr(message, key, value)
        self._takes[f"/iap/{topic}"](message)

    def attitude(self, space="", down=-0.5, **fields):
        self.hear(f"{space}fmu/in/offboard_control_mode", "OffboardControlMode", attitude=True)
        fields = {"q_d": [1.0, 0.0, 0.0, 0.0], "yaw_sp_move_rate": 0.0} | fields
        topic = f"{space}fmu/in/vehicle_attitude_setpoint_v1"
        self.hear(topic, "VehicleAttitudeSetpoint", thrust_body=[0.0, 0.0, down], **fields)

    def point(self, space="", **fields):
        self.hear(f"{space}fmu/in/offboard_control_mode", "OffboardControlMode", position=True)
        nothing = dict.fromkeys(("position", "velocity", "acceleration", "jerk"), NOTHING)
        fields = nothing | {"yaw": math.nan, "yawspeed": math.nan} | fields
        self.hear(f"{space}fmu/in/trajectory_setpoint", "TrajectorySetpoint", **fields)

    def state(self, periods=1):
        self.k += periods
        self._state.put_head(self.k * PERIOD, self.k)
        self._state.put_rows(self.x, np.zeros((1, 4)))
        (own,) = [each for each in self.node.subscriptions if each.topic_name == "/iap/state"]
        own.callback(self._state.dump())

    def says(self, text):
        return text in self.node._statuses()[0].message  # noqa: SLF001 - as in diagnostics


class Kept:
    """A publisher that keeps what is published, as commands or reference rows with their stamps."""

    def __init__(self, kind, count):
        self._reader, self._count, self._kind, self.all = MessageReader(kind), count, kind, []

    def publish(self, data):
        message = self._reader.read(data)
        if self._kind is CommandMessage:
            out = Command.zeros(self._count)
            message.get(out)
        else:
            out = np.zeros(19 + self._count)
            message.get_row(out)
        self.all.append((message.stamp, out))


@pytest.fixture
def bench(monkeypatch, tmp_path):
    """Make a node with parameters, beside no other, whose set-points are stand-ins."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    takes, listen = {}, NodeInputs.listen

    def heard(inputs, msgtype, topic, read, take, qos, **more):
        if msgtype.split("/")[0] in {"px4_msgs", "mavros_msgs"}:
            takes[topic] = take
            return None
        return listen(inputs, msgtype, topic, read, take, qos, **more)

    odometry, create = {}, SetpointNode.create_publisher

    def create_publisher(node, kind, topic, qos):
        if kind is not stand_in("x/msg/VehicleOdometry"):
            return create(node, kind, topic, qos)
        kept = odometry.setdefault(topic, [])
        return SimpleNamespace(publish=lambda said: kept.append([*said.position, *said.velocity]))

    monkeypatch.setattr(SetpointNode, "create_publisher", create_publisher)
    monkeypatch.setattr(NodeInputs, "listen", heard)

    def begin(platform="f450", **parameters):
        file, parameters = tmp_path / "parameters.yaml", {"platform": platform, **parameters}
        file.write_text(json.dumps({"/iap/setpoint_node": {"ros__parameters": parameters}}))
        rclpy.init(args=["--ros-args", "--params-file", str(file)])
        node = SetpointNode(make=lambda kind, _: make_reader(kind, stand_in))
        count = load_platform(platform).count
        out = Bench(node, takes, odometry, platform)
        node._commands = out.commands = Kept(CommandMessage, count)  # noqa: SLF001
        node._references = out.references = Kept(ReferenceMessage, count)  # noqa: SLF001
        return out

    yield begin
    rclpy.try_shutdown()


def test_each_state_is_answered_by_the_attitude_and_thrust_in_force(bench):
    flight = bench(thrust_max=10.0)
    flight.state()
    assert not flight.commands.all
    flight.attitude(down=-0.25)
    flight.state()
    flight.state()
    (first, command), (second, _) = flight.commands.all
    assert (first, second) == (2 * PERIOD, 3 * PERIOD)
    assert (command.mode, command.thrust) == (Mode.ATTITUDE_THRUST, [2.5])
    half = math.sqrt(0.5)
    assert np.abs(command.q_WB[0]) == pytest.approx([0, 0, half, half])  # to the north
    assert not flight.references.all


def test_the_thrust_of_hover_carries_the_aircraft(bench):
    flight = bench(hover_thrust=0.5)
    flight.attitude(down=-0.5)
    flight.state()
    ((_, command),) = flight.commands.all
    assert command.thrust == pytest.approx(Assembly.of(load_platform("f450")).mass * 9.81)


def test_both_parameters_of_thrust_are_refused(bench):
    with pytest.raises(BadInput, match="thrust_max, hover_thrust"):
        bench(thrust_max=10.0, hover_thrust=0.5)


def test_a_whole_point_of_a_trajectory_is_the_reference(bench):
    flight = bench()
    flight.point(
        position=[1.0, 2.0, -3.0], velocity=[0.1, 0.2, -0.3], acceleration=[0.4, 0.5, -0.6],
        yaw=0.5 * math.pi, yawspeed=-0.7,
    )  # fmt: skip
    flight.state()
    ((stamp, row),) = flight.references.all
    assert stamp == PERIOD
    assert row[REF_P] == pytest.approx([2.0, 1.0, 3.0])
    assert row[REF_V] == pytest.approx([0.2, 0.1, 0.3])
    assert row[REF_A] == pytest.approx([0.5, 0.4, 0.6])
    assert row[REF_Q] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    assert row[REF_W] == pytest.approx([0.0, 0.0, 0.7])
    assert np.isnan(row[19:]).all()
    assert not flight.commands.all


def test_what_is_nan_has_no_error_and_no_influence(bench):
    """A climb at a level velocity, of a free heading: along z the position counts, along x and y the velocity."""
    flight = bench()
    flight.x[0] = (5.0, 6.0, 1.0, 0.0, 0.0, math.sin(0.2), math.cos(0.2), 0.3, 0.4, 0.5, 0, 0, 0)
    nan = math.nan
    flight.point(position=[nan, nan, -2.0], velocity=[1.0, -2.0, nan])
    flight.state()
    ((_, row),) = flight.references.all
    assert row[REF_P] == pytest.approx([5.0, 6.0, 2.0])
    assert row[REF_V] == pytest.approx([-2.0, 1.0, 0.0])
    assert row[REF_Q] == pytest.approx(flight.x[0, 3:7])
    assert not row[REF_A].any() and not row[REF_W].any()


def test_an_acceleration_alone_leaves_place_and_velocity_to_the_platform(bench):
    flight = bench()
    flight.x[0, 7:10] = (0.3, 0.4, 0.5)
    flight.point(acceleration=[0.0, 1.0, 0.0])
    flight.state()
    ((_, row),) = flight.references.all
    assert row[REF_P] == pytest.approx(flight.x[0, :3])
    assert row[REF_V] == pytest.approx([0.3, 0.4, 0.5])
    assert row[REF_A] == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.parametrize("rest", [NOTHING, [0.0, 0.0, 0.0]])
def test_a_far_point_at_rest_is_approached_without_a_step(bench, rest):
    flight = bench()
    point = {"position": [0.0, 4.0, -1.0], "velocity": rest, "acceleration": rest, "yaw": 1.57}
    flight.point(**point)
    for _ in range(2000):
        flight.state()
        if flight.k % 50 == 0:
            flight.point(**point)
    places = np.array([row[REF_P] for _, row in flight.references.all])
    assert np.abs(np.diff(places[:, 0])).max() < 0.02  # 4 m/s at most
    assert places[-1] == pytest.approx([4.0, 0.0, 1.0], abs=1e-3)


def test_without_signs_of_life_a_trajectory_rests_where_the_platform_was(bench):
    flight = bench(loss_time=0.1)
    flight.point(position=[9.0, 9.0, -9.0], velocity=[1.0, 0.0, 0.0])
    flight.state()
    flight.x[0, :3] = (1.0, 2.0, 3.0)
    flight.state(21)
    flight.x[0, :3] = (1.5, 2.0, 3.0)
    flight.state()
    (_, lost), (_, later) = flight.references.all[1:]
    for row in (lost, later):
        assert row[REF_P] == pytest.approx([1.0, 2.0, 3.0])
        assert not row[REF_V].any()
    assert flight.says("no signs of life for 0.1 s, the set-points of the platform are lost")
    flight.point(position=[9.0, 9.0, -9.0], velocity=[1.0, 0.0, 0.0])
    flight.state()
    assert flight.references.all[-1][1][REF_P] == pytest.approx([9.0, 9.0, 9.0])
    assert not flight.says("lost")


def test_without_signs_of_life_no_attitude_is_commanded(bench):
    flight = bench(loss_time=0.1)
    flight.state()
    flight.attitude()
    flight.state()
    flight.state(19)
    assert len(flight.commands.all) == 2
    flight.state()
    assert len(flight.commands.all) == 2
    assert flight.says("are lost: nothing is commanded")


def test_a_platform_is_commanded_once_all_of_its_aircraft_have_attitudes(bench):
    flight = bench("three_star", thrust_max=10.0)
    for i in (1, 2):
        flight.attitude(f"drone_{i}/", down=-0.1 * i)
    flight.state()
    assert not flight.commands.all
    flight.attitude("drone_3/", down=-0.3)
    flight.state()
    ((_, command),) = flight.commands.all
    assert command.thrust == pytest.approx([1.0, 2.0, 3.0])


def test_attitudes_beside_rates_are_named_and_nothing_is_commanded(bench):
    flight = bench("three_star")
    for i in (1, 2):
        flight.attitude(f"drone_{i}/")
    flight.hear("drone_3/fmu/in/offboard_control_mode", "OffboardControlMode", body_rate=True)
    flight.hear(
        "drone_3/fmu/in/vehicle_rates_setpoint",
        "VehicleRatesSetpoint",
        roll=0.0, pitch=0.0, yaw=0.0, thrust_body=[0.0, 0.0, -0.5],
    )  # fmt: skip
    flight.state()
    assert not flight.commands.all
    assert flight.says("some aircraft have attitudes and others rates")


def test_a_platform_follows_a_trajectory_as_a_whole_and_one_of_its_aircraft_has_none(bench):
    flight = bench("three_star")
    with pytest.raises(BadInput, match="flown by the platform as a whole"):
        flight.point("drone_1/", position=[0.0, 0.0, -1.0])
    with pytest.raises(BadInput, match="each aircraft attitudes or rates"):
        flight.attitude()
    flight.point(position=[0.0, 0.0, -1.0], velocity=[1.0, 0.0, 0.0])
    flight.state()
    assert len(flight.references.all) == 1 and not flight.commands.all


def test_every_aircraft_hears_of_its_motion_as_of_px4(bench):
    flight = bench("three_star")
    flight.x[:, 0], flight.x[:, 8] = (1.0, 2.0, 3.0, 4.0), (0.1, 0.2, 0.3, 0.4)
    flight.state()
    spaces = {"/iap": 0, "/iap/drone_1": 1, "/iap/drone_2": 2, "/iap/drone_3": 3}
    assert {f"{each}/fmu/out/vehicle_odometry" for each in spaces} == set(flight.odometry)
    for space, k in spaces.items():
        (said,) = flight.odometry[f"{space}/fmu/out/vehicle_odometry"]
        assert said == pytest.approx([0.0, 1.0 + k, -1.0, 0.1 * (1 + k), 0.0, 0.0])


def test_the_page_has_the_parameters_of_set_points_and_their_defaults(bench):
    node = bench(platform="three_star").node
    section = PAGE.read_text("utf-8").partition("## Fly by an outside controller")[2]
    shown = dict(re.findall(r"^\| `(\w+)` \|.*\| `?([\w.]+)`? \|$", section, re.MULTILINE))
    assert shown == {
        name: f"{node.get_parameter(name).value:}".removesuffix(".0") for name in shown
    }
    assert node.declared - set(shown) <= {"use_sim_time", "start_type_description_service"}
