# SPDX-License-Identifier: BSD-3-Clause
"""offboard_node: a platform's commands become set-points of its aircraft, in their namespaces."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

import numpy as np
import rclpy
from autopilot_messages import KINDS, stand_in

from iap_control.nodes.offboard_node import OffboardNode
from iap_control.offboard.kinds import make_messages
from iap_description.errors import BadInput
from iap_description.states import Command, Level, Mode
from iap_description.vehicles.platform import load_platform
from iap_io.wire.message_views import CommandMessage, ReferenceMessage

PAGE = Path(__file__).parents[3] / "docs/how_to/hardware.md"
pytestmark = pytest.mark.ros
CONTROL, RATES = "fmu/in/offboard_control_mode", "fmu/in/vehicle_rates_setpoint"


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """Make a node with parameters, beside no other; messages are stand-ins, and what it publishes is kept."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")
    published, create = [], OffboardNode.create_publisher

    def create_publisher(node, kind, topic, qos):
        if kind not in KINDS:
            return create(node, kind, topic, qos)
        return SimpleNamespace(publish=lambda message: published.append((topic, message)))

    def begin(classes=stand_in, **parameters):
        file = tmp_path / "parameters.yaml"
        file.write_text(json.dumps({"/iap/offboard_node": {"ros__parameters": parameters}}))
        rclpy.init(args=["--ros-args", "--params-file", str(file)])
        return OffboardNode(make=lambda kind, _: make_messages(kind, classes)), published

    monkeypatch.setattr(OffboardNode, "create_publisher", create_publisher)
    yield begin
    rclpy.try_shutdown()


def hear(node, count, mode):
    """Hand a command to a node."""
    command = Command.zeros(count, mode)
    command.thrust[:] = 2.0
    message = CommandMessage.of(count)
    message.put_head(0, 0)
    message.put(command)
    (own,) = [each for each in node.subscriptions if each.topic_name == "/iap/command"]
    own.callback(message.dump())


def test_every_aircraft_of_a_platform_gets_its_set_point_in_its_namespace(begun):
    node, published = begun(platform="three_star", thrust_max=8.0)
    hear(node, 3, Mode.RATE_THRUST)
    spaces = [f"/iap/drone_{i}" for i in (1, 2, 3)]
    assert [topic for topic, _ in published] == [
        f"{s}/{t}" for s in spaces for t in (CONTROL, RATES)
    ]
    assert all(said.thrust_body == [0.0, 0.0, -0.25] for _, said in published[1::2])


def test_one_computer_on_an_aircraft_publishes_for_that_one_alone(begun):
    node, published = begun(platform="three_star", aircraft=2, autopilot="mavros")
    hear(node, 3, Mode.ATTITUDE_THRUST)
    ((topic, target),) = published
    assert topic == "/iap/drone_2/mavros/setpoint_raw/attitude"
    largest = load_platform("three_star").fleet[1].thrust_limits[1]
    assert target.thrust == pytest.approx(2.0 / largest)


def test_a_platform_of_one_aircraft_has_its_topics_in_its_own_namespace(begun):
    node, published = begun(platform="f450")
    hear(node, 1, Mode.RATE_THRUST)
    assert [topic for topic, _ in published] == [f"/iap/{CONTROL}", f"/iap/{RATES}"]


def test_the_reference_of_one_aircraft_is_passed_on_as_a_trajectory(begun):
    node, published = begun(platform="f450", source="reference")
    message, row = ReferenceMessage.of(1), np.zeros(20)
    row[:3], row[6] = (1.0, 2.0, 3.0), 1.0
    message.put_head(0, 0)
    message.put_row(row, Level.POSE, np.zeros(6))
    (own,) = [each for each in node.subscriptions if each.topic_name == "/iap/reference"]
    own.callback(message.dump())
    (_, offboard), (topic, said) = published
    assert offboard.position
    assert topic == "/iap/fmu/in/trajectory_setpoint"
    assert said.position == [2.0, 1.0, -3.0]


def test_the_reference_of_several_aircraft_is_refused(begun):
    with pytest.raises(BadInput, match=r"parameter source: .* 3 aircraft"):
        begun(platform="three_star", source="reference")


def test_rotor_speeds_are_refused_and_nothing_is_published(begun):
    node, published = begun(platform="f450")
    hear(node, 1, Mode.RPM)
    assert not published
    assert "RPM" in node.inputs.refusals.newest()


@pytest.mark.parametrize("kind", ["px4", "mavros"])
def test_without_the_package_the_node_does_not_begin_and_names_the_remedy(
    kind, begun, monkeypatch
):
    def missing(msgtype):
        raise ModuleNotFoundError(f"No module named '{msgtype.split('/', maxsplit=1)[0]}'")

    with pytest.raises(BadInput, match="parameter autopilot: .*apt install"):
        begun(missing, autopilot=kind)


def test_the_page_has_the_parameters_and_their_defaults(begun):
    node, _ = begun()
    section = PAGE.read_text("utf-8").partition("## Parameters")[2].partition("##")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \|.*\| `?(\w+)`? \|$", section, re.MULTILINE))
    assert shown == {
        name: f"{node.get_parameter(name).value:}".removesuffix(".0") for name in shown
    }
    assert node.declared - set(shown) <= {"use_sim_time", "start_type_description_service"}


@pytest.mark.parametrize("kind", ["px4", "mavros"])
def test_the_page_has_the_topics_of_each_kind(kind):
    topics = {each.topic.removesuffix("_v1") for each in make_messages(kind, stand_in).outlets}
    stem = {topic.split("/")[0] for topic in topics}.pop()
    page = PAGE.read_text("utf-8").partition("## Fly by an outside controller")[0]
    assert set(re.findall(rf"`({stem}/[\w/]+)`", page)) == topics
