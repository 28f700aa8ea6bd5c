# SPDX-License-Identifier: BSD-3-Clause
"""Joints that a coordinator elsewhere opens and closes: orders by their states, and what holds together."""

from types import SimpleNamespace

import pytest

from iap_description.errors import BadInput
from iap_description.vehicles.latching import Hold
from iap_physics.modules import remote_joints
from iap_physics.modules.remote_joints import RemoteJoints
from iap_physics.plant.joint_spec import PlantJoints

JOINTS = {
    "ab": {"leader": "a", "follower": "b", "way": [1.0, 0.0, 0.0], "joined": True},
    "bc": {"leader": "b", "follower": "c", "way": [1.0, 0.0, 0.0], "closes": True},
}


class Engine:
    """Joints in an engine, which take note of what is asked of them."""

    def __init__(self, plant, pairs, closing, force):
        self.made, self.said, self.names = (pairs, closing, force), [], set(pairs)

    def hold(self, name):
        self.said.append(("hold", name))

    def part_touching(self):
        self.said.append("part")

    def follow(self, holds):
        self.said.append(dict(holds))


@pytest.fixture
def joints(monkeypatch):
    monkeypatch.setattr(remote_joints, "EngineJoints", Engine)
    names = [SimpleNamespace(name=name) for name in "abc"]
    spec = SimpleNamespace(vehicles=names, rates=SimpleNamespace(control_hz=100.0))
    modules = PlantJoints.model_validate({"rate": 20.0, "latch_force": 50.0, "joints": JOINTS})
    return RemoteJoints(spec, modules, None)


def test_joints_are_between_vehicles_by_number_and_some_hold_from_the_start(joints):
    pairs, closing, force = joints.engine_joints.made
    assert {name: pair.modules for name, pair in pairs.items()} == {"ab": (0, 1), "bc": (1, 2)}
    assert (closing, force, joints.newest) == ({"bc"}, 50.0, -1)
    assert joints.engine_joints.said == [("hold", "ab")]
    assert [joints.structure_of(k) for k in range(3)] == [{0, 1}, {0, 1}, {2}]


def test_the_newest_order_counts_and_one_from_the_future_or_of_other_joints_is_refused(joints):
    joints.offer(4, 4, {"ab": Hold.LOCKED, "bc": Hold.LOCKED})
    joints.offer(3, 5, {"ab": Hold.OPEN, "bc": Hold.OPEN})  # overtaken
    assert joints.newest == 4 and joints.structure_of(0) == {0, 1, 2}
    with pytest.raises(BadInput, match="header.stamp: later than the present state"):
        joints.offer(6, 5, {"ab": Hold.OPEN, "bc": Hold.OPEN})
    with pytest.raises(BadInput, match="names: ab; the joints are ab, bc"):
        joints.offer(5, 5, {"ab": Hold.OPEN})
    joints.offer(5, 5, {"ab": Hold.OPEN, "bc": Hold.LOCKED})
    assert joints.structure_of(0) == {0} and joints.structure_of(1) == {1, 2}


def test_orders_are_followed_at_every_state_and_touching_is_looked_at_by_the_rate(joints):
    joints.engine_joints.said.clear()
    for k in range(6):
        joints.advance(k)
    parts = [i for i, each in enumerate(joints.engine_joints.said) if each == "part"]
    assert parts == [0, 6]  # before the states 0 and 5
    assert joints.engine_joints.said[1] == {"ab": Hold.LOCKED}
