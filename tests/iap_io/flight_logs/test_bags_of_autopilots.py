# SPDX-License-Identifier: BSD-3-Clause
"""Bags with the topics of px4_msgs and mavros, which are flight logs, too."""

import numpy as np
import pytest
from flight_bags import BagMaker, motion
from rosbags.typesys import get_types_from_msg

from iap_bringup.cli.main import main
from iap_description.frames import swap_attitude, swap_world
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.inspection import Inspection
from iap_io.trajectories.bags import opened
from iap_io.trajectories.logged_bags import log_of_bag, open_any
from iap_io.trajectories.reader import read_recorded

PLACE, TURN = "px4_msgs/msg/VehicleLocalPosition", "px4_msgs/msg/VehicleAttitude"
DEFINITIONS = {
    PLACE: "uint64 timestamp\nuint64 timestamp_sample\nbool xy_valid\nbool z_valid\n"
    + "".join(f"float32 {name}\n" for name in ("x", "y", "z", "vx", "vy", "vz")),
    TURN: "uint64 timestamp\nuint64 timestamp_sample\nfloat32[4] q\n",
}
BOOT_US = 5_000_000


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 6.0, 0.02))


@pytest.fixture
def maker(tmp_path):
    return BagMaker(tmp_path, "mcap")


@pytest.fixture
def px4_bag(maker, flight):
    for name, text in DEFINITIONS.items():
        maker.store.register(get_types_from_msg(text, name))
    R = swap_attitude(so3.matrix_from_quaternion(flight.q))
    q = np.array(so3.quaternion_from_matrix(R)[:, [3, 0, 1, 2]], dtype=np.float32, order="C")
    numbers = np.hstack([swap_world(flight.p), swap_world(flight.v)]).tolist()
    places, turns = [], []
    for k, stamp in enumerate(flight.stamps):
        now = BOOT_US + round(1e6 * flight.t[k])
        places.append((stamp, maker.make(PLACE, now + 300, now, True, True, *numbers[k])))
        turns.append((stamp, maker.make(TURN, now + 300, now, q[k])))
    return maker.write(
        {
            "/fmu/out/vehicle_local_position_v1": (PLACE, places),
            "/fmu/out/vehicle_attitude": (TURN, turns),
        }
    )


def test_the_path_in_topics_of_px4_msgs_is_flown(px4_bag, flight):
    recorded = read_recorded(px4_bag)
    begin = int(np.argmin(np.abs(flight.t + BOOT_US * 1e-6 - recorded.start_ns * 1e-9)))
    there = slice(begin, begin + len(recorded.t))
    assert len(recorded.t) > 0.9 * len(flight.t)
    assert recorded.p_WP_W == pytest.approx(flight.p[there], abs=1e-3)
    off = so3.quaternion_log(so3.multiply(so3.conjugate(flight.q[there]), recorded.q_WP))
    assert np.linalg.norm(off, axis=1).max() < 1e-3


def test_armed_in_topics_of_px4_msgs_is_a_state_of_the_vehicle(maker):
    kind = "px4_msgs/msg/VehicleStatus"
    maker.store.register(get_types_from_msg("uint64 timestamp\nuint8 arming_state\n", kind))
    states = [(1, 1), (2, 2), (3, 2), (4, 1)]  # seconds, and disarmed or armed
    messages = [(10**9 * t, maker.make(kind, 10**6 * t, state)) for t, state in states]
    log = open_any(maker.write({"/fmu/out/vehicle_status_v1": (kind, messages)}))
    assert log.signals[names.ARMED].values[:, 0].tolist() == [0.0, 1.0, 1.0, 0.0]


def mavros_bag(maker, flight, others=None):
    def imu(k, stamp):
        f = so3.rotate(so3.conjugate(flight.q[k]), flight.a[k] + [0.0, 0.0, 9.81])
        none = np.zeros(9)
        both = [none, maker.xyz(flight.w[k]), none, maker.xyz(f), none]
        header, turn = maker.header(stamp), maker.quaternion(flight.q[k])
        return maker.make("sensor_msgs/msg/Imu", header, turn, *both)

    def speed(k, stamp):
        twist = maker.pair("Twist", flight.v[k], flight.w[k])
        return maker.make("geometry_msgs/msg/TwistStamped", maker.header(stamp), twist)

    stamps = list(enumerate(flight.stamps))
    return maker.write(
        {
            "/uav/mavros/local_position/pose": maker.poses(flight),
            "/uav/mavros/imu/data": ("sensor_msgs/msg/Imu", [(s, imu(k, s)) for k, s in stamps]),
            "/uav/mavros/local_position/velocity_local": (
                "geometry_msgs/msg/TwistStamped",
                [(s, speed(k, s)) for k, s in stamps],
            ),
            **(others or {}),
        }
    )


ODOMETRY = "px4_msgs/msg/VehicleOdometry"
TARGET, TURNED = "mavros_msgs/msg/PositionTarget", "mavros_msgs/msg/AttitudeTarget"
NO_POSITION, NO_VELOCITY, NO_ATTITUDE = 0b111, 0b111000, 128


def test_odometry_of_px4_msgs_is_a_pose(maker, flight):
    text = "uint64 timestamp\nuint64 timestamp_sample\nfloat32[3] position\nfloat32[4] q\n"
    maker.store.register(get_types_from_msg(text, ODOMETRY))
    R = swap_attitude(so3.matrix_from_quaternion(flight.q))
    q = np.array(so3.quaternion_from_matrix(R)[:, [3, 0, 1, 2]], dtype=np.float32, order="C")
    p = np.array(swap_world(flight.p), dtype=np.float32, order="C")
    us = [BOOT_US + round(1e6 * t) for t in flight.t]
    messages = [
        (stamp, maker.make(ODOMETRY, us[k], us[k], p[k], q[k]))
        for k, stamp in enumerate(flight.stamps)
    ]
    log = open_any(maker.write({"/fmu/out/vehicle_odometry": (ODOMETRY, messages)}))
    assert log.signals[names.POSITION].values == pytest.approx(flight.p, abs=1e-5)
    off = so3.multiply(so3.conjugate(flight.q), log.signals[names.ATTITUDE].values)
    assert np.abs(so3.quaternion_log(off)).max() < 1e-3


def test_set_points_of_mavros_count_where_their_mask_and_their_frame_say(maker, flight):
    head = "std_msgs/Header header\nuint8 coordinate_frame\nuint16 type_mask\n"
    text = f"{head}geometry_msgs/Point position\ngeometry_msgs/Vector3 velocity\n"
    maker.store.register(get_types_from_msg(text, TARGET))
    masks = [NO_VELOCITY, NO_POSITION, 0]
    frames = [1, 1, 8]  # the last along the body's axes

    def target(k, stamp):
        header, i = maker.header(stamp), min(k // 100, 2)
        both = maker.make("geometry_msgs/msg/Point", *flight.p[k]), maker.xyz(flight.v[k])
        return maker.make(TARGET, header, frames[i], masks[i], *both)

    messages = [(stamp, target(k, stamp)) for k, stamp in enumerate(flight.stamps)]
    topic = {"/mavros/setpoint_raw/local": (TARGET, messages)}
    log = open_any(maker.write({"/mavros/local_position/pose": maker.poses(flight), **topic}))
    p, v = (
        log.signals[each].values for each in (names.POSITION_SETPOINT, names.VELOCITY_SETPOINT)
    )
    assert p[:100] == pytest.approx(flight.p[:100]) and np.isnan(p[100:]).all()
    assert v[100:200] == pytest.approx(flight.v[100:200])
    assert np.isnan(v[:100]).all() and np.isnan(v[200:]).all()
    flown = read_recorded(log.path, topic="velocity_setpoint")  # beside topics of poses
    assert len(flown.t) == 100
    assert np.ptp(flown.p_WP_W - flight.p[100:200], axis=0).max() < 0.01


def test_attitudes_that_a_target_ignores_are_none(maker, flight):
    text = (
        "std_msgs/Header header\nuint8 type_mask\ngeometry_msgs/Quaternion orientation\n"
        "geometry_msgs/Vector3 body_rate\nfloat32 thrust\n"
    )
    maker.store.register(get_types_from_msg(text, TURNED))
    messages = [
        (
            stamp,
            maker.make(
                TURNED,
                maker.header(stamp),
                NO_ATTITUDE * (k % 2),
                maker.quaternion(flight.q[k]),
                maker.xyz(flight.w[k]),
                0.5,
            ),
        )
        for k, stamp in enumerate(flight.stamps)
    ]
    topic = {"/mavros/setpoint_raw/attitude": (TURNED, messages)}
    log = open_any(maker.write({"/mavros/local_position/pose": maker.poses(flight), **topic}))
    q = log.signals[names.ATTITUDE_SETPOINT].values
    assert q[::2] == pytest.approx(flight.q[::2]) and np.isnan(q[1::2]).all()
    assert log.signals[names.THRUST].values == pytest.approx(0.5)


def test_channels_that_never_change_are_no_motors(maker, flight):
    text = "std_msgs/Header header\nuint16[] channels\n"
    maker.store.register(get_types_from_msg(text, "mavros_msgs/msg/RCOut"))
    messages = []
    for k, stamp in enumerate(flight.stamps):
        channels = np.array([1400 + k % 7, 1410 + k % 5, 1420 + k % 3, 1430 + k % 2, 1500, 0])
        header = maker.header(stamp)
        made = maker.make("mavros_msgs/msg/RCOut", header, channels.astype(np.uint16))
        messages.append((stamp, made))
    topic = {"/mavros/rc/out": ("mavros_msgs/msg/RCOut", messages)}
    log = open_any(maker.write({"/mavros/local_position/pose": maker.poses(flight), **topic}))
    assert log.signals[names.MOTORS].values[0] == pytest.approx([0.4, 0.41, 0.42, 0.43])
    assert log.rotors == 4 and log.motor_places == names.QUAD_X


def test_topics_of_mavros_are_signals_in_enu(maker, flight):
    log = open_any(mavros_bag(maker, flight))
    assert log.signals[names.POSITION].values == pytest.approx(flight.p)
    assert log.signals[names.RATES].values == pytest.approx(flight.w)
    assert log.begin == 0.0
    assert Inspection.of(log).check.verdict == "frames confirmed (ENU, FLU)"


def test_a_velocity_along_the_bodys_axes_is_turned_into_the_world(maker, flight):
    v_B = so3.rotate(so3.conjugate(flight.q), flight.v)

    def odometry(k, stamp):
        p = flight.p[k]
        covariance = np.zeros(36)
        turn = maker.quaternion(flight.q[k])
        pose = maker.make(
            "geometry_msgs/msg/Pose", maker.make("geometry_msgs/msg/Point", *p), turn
        )
        twist = maker.pair("Twist", v_B[k], flight.w[k])
        both = [
            maker.make(f"geometry_msgs/msg/{kind}WithCovariance", x, covariance)
            for kind, x in (("Pose", pose), ("Twist", twist))
        ]
        return maker.make("nav_msgs/msg/Odometry", maker.header(stamp), "base_link", *both)

    messages = [(stamp, odometry(k, stamp)) for k, stamp in enumerate(flight.stamps)]
    topic = {"/mavros/local_position/odom": ("nav_msgs/msg/Odometry", messages)}
    with opened(maker.write(topic)) as bag:
        log = log_of_bag(bag)
    assert log.signals[names.VELOCITY].values == pytest.approx(flight.v, abs=1e-9)
    assert log.signals[names.RATES].values == pytest.approx(flight.w)
    assert "velocity: turned from the body's axes, as positions say" in log.notes


def test_speeds_of_controllers_are_rotor_speeds(maker, flight):
    item = "std_msgs/Header header\nint32 rpm\nfloat32 voltage\nfloat32 current\n"
    status = "std_msgs/Header header\nmavros_msgs/ESCStatusItem[] esc_status\n"
    maker.store.register(get_types_from_msg(item, "mavros_msgs/msg/ESCStatusItem"))
    maker.store.register(get_types_from_msg(status, "mavros_msgs/msg/ESCStatus"))
    messages = []
    for k, stamp in enumerate(flight.stamps):
        header = maker.header(stamp)
        items = [
            maker.make("mavros_msgs/msg/ESCStatusItem", header, 5000 + 100 * i + k, 16.0, 4.0)
            for i in range(4)
        ]
        messages.append((stamp, maker.make("mavros_msgs/msg/ESCStatus", header, items)))
    topic = {"/mavros/esc_status/status": ("mavros_msgs/msg/ESCStatus", messages)}
    log = open_any(maker.write({"/mavros/local_position/pose": maker.poses(flight), **topic}))
    speeds = log.signals[names.ROTOR_SPEEDS].values
    assert speeds[7].tolist() == [5007.0, 5107.0, 5207.0, 5307.0]
    assert any("order of the controllers" in note for note in log.notes)


def test_of_several_poses_an_autopilots_bag_flies_its_flight_log(maker, flight, capsys):
    path = mavros_bag(maker, flight, {"/mavros/vision_pose/pose": maker.poses(flight)})
    recorded = read_recorded(path)
    assert recorded.about.topic == "position"
    assert recorded.p_WP_W == pytest.approx(flight.p[-len(recorded.t) :], abs=1e-3)
    assert any("its flight log is taken (bag of mavros)" in x for x in recorded.about.notes)


def test_a_bag_without_an_autopilots_topics_is_not_inspected(maker, flight, capsys):
    path = maker.write({"/pose": maker.poses(flight)})
    assert main(["inspect", str(path)]) == 2
    error = capsys.readouterr().err
    assert "no topics of px4_msgs or mavros" in error and error.count("\n") == 1
