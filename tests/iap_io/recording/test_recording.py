# SPDX-License-Identifier: BSD-3-Clause
"""The bag of a run: what is in it, and what is read back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_flights import Flight, Record, random_flight, run_meta
from rosbags.rosbag2 import Reader

from iap_description.math import so3
from iap_description.signals import ForceMode, ForceTask, Reference, WrenchRecord
from iap_io.bags.bag_writer import STORAGE, BagWriter
from iap_io.recording.recorder import Recorder
from iap_io.recording.state_chunk import TICKS
from iap_io.runs import topics
from iap_io.runs.run_folder import load_run
from iap_io.runs.run_meta import Track
from iap_io.runs.topics import BAG, META
from iap_io.wire.cdr import message_types
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import OdometryMessage
from iap_io.wire.stamps import stamp_of


def _raw(folder: Path) -> dict[str, list[tuple[int, bytes]]]:
    """All messages of a bag by topic."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    with Reader(folder / BAG) as reader:
        for connection, stamp, data in reader.messages(reader.connections):
            found.setdefault(connection.topic, []).append((stamp, bytes(data)))
    return found


def _record(folder: Path, flight: Flight, ticks: int) -> None:
    with Recorder(folder, run_meta(flight)) as recorder:
        for k in range(ticks):
            flight.record(recorder, k)


def _xyz(kind: Any, values: np.ndarray) -> Any:
    return kind(*map(float, values))


class _ByHand:
    """The messages of a tick, built field by field as rosbags' objects."""

    def __init__(self, flight: Flight, k: int) -> None:
        self.types = message_types().types
        self.flight, self.k = flight, k
        stamp = self.types["builtin_interfaces/msg/Time"](*divmod(round(flight.t[k] * 1e9), 10**9))
        self.header = self.types["std_msgs/msg/Header"](stamp, "map")

    def geometry(self, name: str) -> Any:
        return self.types[f"geometry_msgs/msg/{name}"]

    def pose(self, row: np.ndarray) -> Any:
        point, turn = self.geometry("Point"), self.geometry("Quaternion")
        return self.geometry("Pose")(_xyz(point, row[:3]), _xyz(turn, row[3:7]))

    def pair(self, name: str, row: np.ndarray) -> Any:
        vector = self.geometry("Vector3")
        return self.geometry(name)(_xyz(vector, row[:3]), _xyz(vector, row[3:6]))

    def state(self) -> Any:
        meta, x = self.flight.meta, self.flight.x[self.k]
        free = [(x[j.parent], x[j.child]) for j in meta.joints if j.type == "spherical"]
        R = so3.matrix_from_quaternion
        turns = [so3.multiply(so3.conjugate(a[3:7]), b[3:7]) for a, b in free]
        rates = [R(b[3:7]).T @ (b[10:] - a[10:]) for a, b in free]
        return self.types[StateMessage.TYPE](
            self.header,
            self.k,
            list(meta.bodies),
            [self.pose(row) for row in x],
            [self.pair("Twist", row[7:]) for row in x],
            [joint.name for joint in meta.joints],
            np.array(turns).ravel(),
            np.array(rates).ravel(),
            self.flight.rpm[self.k].ravel(),
            self.flight.tilt[self.k].ravel(),
            [],  # no arm, no load
        )

    def reference(self) -> Any:
        row = self.flight.reference[self.k]
        twist, accel = self.pair("Twist", row[7:13]), self.pair("Accel", row[13:19])
        none = self.pair("Wrench", np.zeros(6))
        kind = self.types[ReferenceMessage.TYPE]
        return kind(self.header, self.k, 0, self.pose(row), twist, accel, none, row[19:])

    def command(self) -> Any:
        c = self.flight.commands[self.k]
        vector, turn = self.geometry("Vector3"), self.geometry("Quaternion")
        aircraft = [
            self.types["iap_msgs/msg/AircraftCommand"](
                c.thrust[i], _xyz(turn, c.q_WB[i]), _xyz(vector, c.w_WB_B[i]), c.rpm[i], c.tilt[i]
            )
            for i in range(len(c.thrust))
        ]
        wrench = self.pair("Wrench", c.wrench_P)
        kind = self.types[CommandMessage.TYPE]
        return kind(self.header, self.k, int(c.mode), wrench, aircraft)


def test_headers_have_the_stamps_at_which_their_messages_are_recorded(tmp_path: Path) -> None:
    """Wrenches and tasks of contact, too."""
    flight = random_flight("three_star", 5)
    flight.meta = flight.meta.model_copy(update={"feels": True})
    task = ForceTask(ForceMode.SELECTIVE, *np.zeros((2, 6)), np.zeros(6, bool))
    flight.wrench_record = [
        WrenchRecord(*np.ones((3, 6)), Reference(row), task) for row in flight.reference
    ]
    _record(tmp_path, flight, 5)
    stamps = [round(each * 1e9) for each in flight.t[:5]]
    found = {topic: rows for topic, rows in _raw(tmp_path).items() if len(rows) == 5}
    names = {topic.removeprefix("/iap/") for topic in found}
    assert {"state", "wrench/raw", "wrench/filtered", "wrench/task", "reference/revised"} <= names
    for topic, rows in found.items():
        assert [stamp for stamp, _ in rows] == stamps
        if topic != "/tf":  # an array of transforms
            assert [stamp_of(data) for _, data in rows] == stamps, topic


@pytest.mark.parametrize("platform", ["three_star", "f450", "two_line", "three_star_fixed"])
def test_messages_are_byte_for_byte_those_of_rosbags(platform: str, tmp_path: Path) -> None:
    flight = random_flight(platform, 5)
    _record(tmp_path, flight, 5)
    found = _raw(tmp_path)
    store = message_types()
    for name in ("state", "reference", "command"):
        messages = found[f"/iap/{name}"]
        assert len(messages) == 5
        for k, (stamp, data) in enumerate(messages):
            message = getattr(_ByHand(flight, k), name)()
            want, got = store.serialize_cdr(message, message.__msgtype__), data
            if name == "state":  # computed joint states may differ in the last bit
                a, b = (store.deserialize_cdr(raw, message.__msgtype__) for raw in (want, got))
                np.testing.assert_allclose(a.joint_positions, b.joint_positions, atol=1e-14)
                np.testing.assert_allclose(a.joint_velocities, b.joint_velocities, atol=1e-13)
                message.joint_positions, message.joint_velocities = (
                    b.joint_positions,
                    b.joint_velocities,
                )
                want = store.serialize_cdr(message, message.__msgtype__)
            assert bytes(want) == got
            assert stamp == round(flight.t[k] * 1e9)


def test_odometry_has_the_twist_in_the_child_frame_at_100_hz(tmp_path: Path) -> None:
    flight = random_flight("three_star", 7)
    _record(tmp_path, flight, 7)
    found = _raw(tmp_path)
    store = message_types()
    for i, name in enumerate(["odom", "drone_1/odom", "drone_2/odom", "drone_3/odom"]):
        messages = found[f"/iap/{name}"]
        assert [stamp for stamp, _ in messages] == [0, 10_000_000, 20_000_000, 30_000_000]
        for n, (_, data) in enumerate(messages):
            row = flight.x[2 * n, i]
            R = so3.matrix_from_quaternion(row[3:7])
            message = store.deserialize_cdr(data, OdometryMessage.TYPE)
            assert message.child_frame_id == f"iap/{flight.meta.bodies[i]}"
            linear, angular = message.twist.twist.linear, message.twist.twist.angular
            np.testing.assert_allclose([linear.x, linear.y, linear.z], R.T @ row[7:10])
            np.testing.assert_allclose([angular.x, angular.y, angular.z], R.T @ row[10:])
            assert bytes(store.serialize_cdr(message, OdometryMessage.TYPE)) == data


@pytest.mark.parametrize("ticks", [1, 2, TICKS, TICKS + 1, 2 * TICKS + 3])
def test_what_was_recorded_is_read_back(ticks: int, tmp_path: Path) -> None:
    flight = random_flight("three_star", ticks)
    _record(tmp_path, flight, ticks)
    c = load_run(tmp_path).vehicles[0].columns
    np.testing.assert_array_equal(c.x, flight.x)
    np.testing.assert_array_equal(c.reference, flight.reference)
    np.testing.assert_array_equal(c.rpm, flight.rpm)
    np.testing.assert_array_equal(c.mode, [command.mode for command in flight.commands])
    np.testing.assert_array_equal(
        c.aircraft[..., 0], [command.thrust for command in flight.commands]
    )
    np.testing.assert_allclose(c.t, flight.t, rtol=1e-15)
    np.testing.assert_array_equal(c.k, np.arange(ticks))


def test_equal_runs_give_equal_bags(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _record(tmp_path / name, random_flight("three_line", 700), 700)
    for file in (STORAGE, "metadata.yaml"):
        a, b = ((tmp_path / name / BAG / file).read_bytes() for name in ("a", "b"))
        assert a == b


def test_mcap_library_reads_the_bag_in_order_of_time(tmp_path: Path) -> None:
    mcap = pytest.importorskip("mcap.reader")
    _record(tmp_path, random_flight("two_line", 1100), 1100)
    with (tmp_path / BAG / STORAGE).open("rb") as file:
        reader = mcap.make_reader(file, validate_crcs=True)
        statistics = reader.get_summary().statistics
        stamps = [m.log_time for _, _, m in reader.iter_messages(log_time_order=False)]
    assert statistics.message_count == len(stamps) == 3 * 1100 + 4 * 550 + 1
    assert statistics.message_end_time == 1099 * 5_000_000
    assert stamps == sorted(stamps)


def test_two_vehicles_share_a_bag(tmp_path: Path, recorded: Record) -> None:
    left, right = random_flight("three_star", 600, "left"), random_flight("f450", 600, "right", 1)
    run = recorded(left, right)
    for vehicle, flight in zip(run.vehicles, (left, right), strict=True):
        np.testing.assert_array_equal(vehicle.columns.x, flight.x)
    assert "/right/odom" in _raw(tmp_path)


def test_tracks_have_stamps_of_their_own(recorded: Record) -> None:
    flight = random_flight("three_star", 20)
    track = Track(np.array([0.001, 0.04, 0.09]), flight.reference[:3, :7].copy())
    run = recorded(flight, tracks={topics.ACTUAL: track})
    assert run.vehicles[0].commanded is None
    actual = run.vehicles[0].actual
    assert actual is not None
    np.testing.assert_allclose(actual.t, track.t, rtol=1e-15)
    np.testing.assert_array_equal(actual.poses, track.poses)


def test_tracks_end_with_the_flight_however_it_ends(tmp_path: Path, recorded: Record) -> None:
    ticks = TICKS + 40
    flight = random_flight("f450", ticks)
    t = np.arange(-0.1, 60.0, 0.01)
    track = Track(t, np.tile(flight.reference[0, :7], (len(t), 1)))
    run = recorded(flight, tracks={topics.REFERENCE_POSE: track})
    given, flown = run.vehicles[0].commanded, run.vehicles[0].columns.t
    assert given is not None
    np.testing.assert_allclose(given.t, np.arange(0, ticks, 2) * 0.005, atol=1e-9)
    with Reader(tmp_path / BAG) as reader:
        assert reader.duration == round(flown[-1] * 1e9) + 1


def test_serialised_messages_can_be_recorded_one_by_one(tmp_path: Path) -> None:
    """As the recorder node does, with messages missing."""
    flight = random_flight("three_star", 6)
    store, meta = message_types(), run_meta(flight)
    bag = BagWriter(tmp_path / BAG, store, {META: meta.model_dump_json()})
    channels = {
        name: bag.add_topic(topics.topic("iap", name), layout.msgtype)
        for name, layout in topics.layouts(flight.meta).items()
        if name in (topics.STATE, topics.REFERENCE, topics.COMMAND)
    }
    for k in range(6):
        by_hand = _ByHand(flight, k)
        for name, channel in channels.items():
            if name == topics.COMMAND and k == 3:
                continue  # lost
            message = getattr(by_hand, name)()
            data = bytes(store.serialize_cdr(message, message.__msgtype__))
            bag.append(channel, round(flight.t[k] * 1e9), data)
    bag.close()
    c = load_run(tmp_path).vehicles[0].columns
    np.testing.assert_array_equal(c.x, flight.x)
    held = [0, 1, 2, 2, 4, 5]
    np.testing.assert_array_equal(c.aircraft[..., 0], [flight.commands[k].thrust for k in held])
