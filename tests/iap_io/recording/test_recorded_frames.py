# SPDX-License-Identifier: BSD-3-Clause
"""Frames and descriptions in recorded bags: those that tools of ROS ask for, and equal to the recorded states."""

from xml.etree import ElementTree

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

from iap_description.math import so3
from iap_description.states import P, Q
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.wire.cdr import message_types
from iap_simulation.runs.run import record


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    """The states of two vehicles, and all messages of the bag by topic."""
    settings = {"engine.name": "closed_form"}
    folder = tmp_path_factory.mktemp("frames") / "run"
    record("two_platforms", folder=folder, duration=0.5, settings=settings)
    found, types = {}, message_types()
    with Reader(folder / BAG) as reader:
        for connection, stamp, data in reader.messages():
            if connection.topic in ("/tf", "/iap_1/robot_description", "/iap_2/robot_description"):
                message = types.deserialize_cdr(data, connection.msgtype)
                found.setdefault(connection.topic, []).append((stamp, message))
    return load_run(folder).vehicles, found


def pose_of(transform):
    p, q = transform.translation, transform.rotation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def test_frames_put_together_are_the_recorded_states(flown):
    vehicles, found = flown
    stamp, message = found["/tf"][20]
    frames = {
        each.child_frame_id: (each.header, pose_of(each.transform)) for each in message.transforms
    }
    assert len(frames) == sum(vehicle.columns.x.shape[1] for vehicle in vehicles)
    for vehicle in vehicles:
        (row,) = np.flatnonzero(np.rint(vehicle.columns.t * 1e9) == stamp)
        x, name = vehicle.columns.x[row], vehicle.meta.name
        header, base = frames[f"{name}/base_link"]
        assert header.frame_id == "map"
        np.testing.assert_allclose(base, x[0, :7], atol=1e-12)
        for body, state in zip(vehicle.meta.bodies[1:], x[1:], strict=True):
            header, inside = frames[f"{name}/{body}"]
            assert header.frame_id == f"{name}/base_link"
            assert header.stamp.sec * 10**9 + header.stamp.nanosec == stamp
            np.testing.assert_allclose(
                base[P] + so3.rotate(base[Q], inside[P]), state[P], atol=1e-9
            )
            turn = so3.multiply(so3.conjugate(state[Q]), so3.multiply(base[Q], inside[Q]))
            assert abs(turn[3]) == pytest.approx(1.0, abs=1e-12)


def test_frames_come_at_a_rate_of_100_hz(flown):
    _, found = flown
    assert set(np.diff([stamp for stamp, _ in found["/tf"]])) == {10_000_000}


def test_every_vehicle_has_one_description_with_its_bodies(flown):
    vehicles, found = flown
    for vehicle in vehicles:
        ((stamp, message),) = found[f"/{vehicle.meta.name}/robot_description"]
        links = {each.get("name") for each in ElementTree.fromstring(message.data).iter("link")}
        assert stamp == 0 and set(vehicle.meta.bodies) <= links
