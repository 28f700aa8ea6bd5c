# SPDX-License-Identifier: BSD-3-Clause
"""Bags with an autopilot's topics as flight logs: px4_msgs, and mavros.

Messages of px4_msgs are the topics of PX4's own logs, in NED and FRD, by the autopilot's clock. mavros turns all into
ENU and FLU, by the clock of ROS.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs import px4_names, px4_ulog
from iap_io.flight_logs.flight_log import FlightLog, Signal
from iap_io.flight_logs.frame_checks import means
from iap_io.flight_logs.log_tables import LogField, LogTable, Tables, signals_of
from iap_io.flight_logs.plausibility import plausible
from iap_io.flight_logs.px4_outputs import in_motor_order, notes_on_range
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.bags import Bag, is_bag, opened
from iap_io.trajectories.messages import header_ns
from iap_io.trajectories.points import slerp

PX4, MAVROS = "px4_msgs", "/mavros/"
LOCAL_FRAME = 1  # coordinate_frame of PositionTarget: the world's axes, ENU whatever the name says
CLEARLY = 1.5  # factor by which one kind of axes has to fit better
MAX_ARRAY_LENGTH = 32  # numbers of an array that are read


def _xyz(stem: str) -> tuple[str, ...]:
    return tuple(f"{stem}.{axis}" for axis in "xyz")


OUTPUTS = "rc/out"
POSE, ODOMETRY, IMU = "local_position/pose", "local_position/odom", "imu/data"
BODY_VELOCITY = "local_position/velocity_body"
IN_BODY = (BODY_VELOCITY, ODOMETRY)  # whose velocities are along the body's axes by rights
CONTROLLERS = ("esc_status/status", "esc_status", "esc_telemetry/telemetry", "esc_telemetry")
ATTITUDE_TARGET, LOCAL_TARGET = "setpoint_raw/attitude", "setpoint_raw/local"
# What is left out of messages AttitudeTarget and PositionTarget by the bits of their type_mask.
IGNORED: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    ATTITUDE_TARGET: {
        1: ("body_rate.x",), 2: ("body_rate.y",), 4: ("body_rate.z",),
        64: ("thrust",), 128: (*_xyz("orientation"), "orientation.w"),
    },
    LOCAL_TARGET: {
        bit << shift: (f"{what}.{axis}",)
        for shift, what in ((0, "position"), (3, "velocity"))
        for bit, axis in ((1, "x"), (2, "y"), (4, "z"))
    },
}  # fmt: skip
FIELDS = (
    LogField(names.ATTITUDE, IMU, (*_xyz("orientation"), "orientation.w")),
    LogField(names.ATTITUDE, POSE, (*_xyz("pose.orientation"), "pose.orientation.w")),
    LogField(names.POSITION, POSE, _xyz("pose.position")),
    LogField(
        names.ATTITUDE, ODOMETRY, (*_xyz("pose.pose.orientation"), "pose.pose.orientation.w")
    ),
    LogField(names.POSITION, ODOMETRY, _xyz("pose.pose.position")),
    LogField(names.VELOCITY, "local_position/velocity_local", _xyz("twist.linear")),
    LogField(names.VELOCITY, "local_position/velocity", _xyz("twist.linear")),
    LogField(names.VELOCITY, BODY_VELOCITY, _xyz("twist.linear")),
    LogField(names.VELOCITY, ODOMETRY, _xyz("twist.twist.linear")),
    LogField(names.RATES, IMU, _xyz("angular_velocity")),
    LogField(names.RATES, BODY_VELOCITY, _xyz("twist.angular")),
    LogField(names.RATES, ODOMETRY, _xyz("twist.twist.angular")),
    LogField(names.GYROSCOPE, IMU, _xyz("angular_velocity")),
    LogField(names.SPECIFIC_FORCE, IMU, _xyz("linear_acceleration")),
    LogField(names.MOTORS, OUTPUTS, ("channels[*]",), "pulse"),
    *(LogField(names.ROTOR_SPEEDS, table, ("rpm[*]",)) for table in CONTROLLERS),
    LogField(
        names.ATTITUDE_SETPOINT, "setpoint_raw/target_attitude",
        (*_xyz("orientation"), "orientation.w"),
    ),
    LogField(names.THRUST, "setpoint_raw/target_attitude", ("thrust",)),
    LogField(names.ATTITUDE_SETPOINT, ATTITUDE_TARGET, (*_xyz("orientation"), "orientation.w")),
    LogField(names.THRUST, ATTITUDE_TARGET, ("thrust",)),
    LogField(names.POSITION_SETPOINT, "setpoint_position/local", _xyz("pose.position")),
    LogField(names.POSITION_SETPOINT, LOCAL_TARGET, _xyz("position")),
    LogField(names.VELOCITY_SETPOINT, LOCAL_TARGET, _xyz("velocity")),
    LogField(names.VELOCITY_SETPOINT, "setpoint_velocity/cmd_vel", _xyz("twist.linear")),
    LogField(names.RATES_SETPOINT, ATTITUDE_TARGET, _xyz("body_rate")),
    LogField(names.VOLTAGE, "battery", ("voltage",)),
    LogField(names.CURRENT, "battery", ("current",)),
)  # fmt: skip


class BagKind(NamedTuple):
    """Topics of one bridge to an autopilot.

    Attributes:
        name: in words.
        fields: where its signals are.
        axes: of its numbers.
    """

    name: str
    fields: tuple[LogField, ...]
    axes: str


PX4_BAG = BagKind("bag of px4_msgs", px4_names.FIELDS, "ned")
MAVROS_BAG = BagKind("bag of mavros", FIELDS, "enu")


def open_any(path: Path) -> FlightLog:
    """Read a flight log, or a bag with an autopilot's topics.

    Raises:
        BadInput: it is neither, or cannot be read.
    """
    if not is_bag(path):
        return open_log(path)
    with opened(path) as bag:
        if not is_autopilots(bag):
            raise BadInput(
                f"{path}: no topics of px4_msgs or mavros: 'iap replay {path}' flies poses of others"
            )
        return log_of_bag(bag)


def is_autopilots(bag: Bag) -> bool:
    """True if a bag has topics of px4_msgs or mavros."""
    return bool(_px4_topics(bag) or _mavros_topics(bag))


def _px4_topics(bag: Bag) -> dict[str, str]:
    """Table of each topic of px4_msgs that is known: ``VehicleAttitude`` is ``vehicle_attitude``."""
    known = {each.table.replace("_", ""): each.table for each in px4_names.FIELDS}
    topics = {}
    for topic, about in bag.topics.items():
        package, _, kind = about.msgtype.partition("/")
        table = known.get(kind.rpartition("/")[2].lower())
        if package == PX4 and table is not None:
            topics[topic] = table
    return topics


def _mavros_topics(bag: Bag) -> dict[str, str]:
    """Table of each topic of mavros that is known."""
    known = {each.table for each in FIELDS}
    ends = {topic: topic.partition(MAVROS)[2] for topic in bag.topics if MAVROS in topic}
    return {topic: end for topic, end in ends.items() if end in known}


def log_of_bag(bag: Bag) -> FlightLog:
    """The log in a bag of `is_autopilots`.

    Raises:
        BadInput: none of its messages has a signal.
    """
    topics = _px4_topics(bag)
    kind = PX4_BAG if topics else MAVROS_BAG
    tables = _tables(bag, topics or _mavros_topics(bag))
    ranges: dict[str, str] = {}
    if topics:
        tables, ranges = in_motor_order(tables, {}, 0, is_simulated=False)
    signals, notes = signals_of(tables, kind.fields)
    notes += notes_on_range(signals, ranges)
    if not signals:
        raise BadInput(f"{bag.path}: its topics of {kind.name.rpartition(' ')[2]} have no signals")
    rows = sum(len(table.t) for each in tables.values() for table in each)
    if not topics:
        signals, of_velocity = _with_velocity_of_world(signals)
        notes += ["times count from the first message", *of_velocity]
        if names.ROTOR_SPEEDS in signals:
            notes.append(
                "rotor speeds: in the order of the controllers, which may not be that of the motors"
            )
    motors = signals.get(names.MOTORS)
    rotors = 0 if motors is None else motors.values.shape[1]
    log = FlightLog(
        bag.path, kind.name, f"{len(tables)} topics of an autopilot", signals, rotors, kind.axes,
        rows=rows, notes=(*bag.notes, *notes),
        motor_places=names.QUAD_X if rotors == len(names.QUAD_X) else None,
    )  # fmt: skip
    return plausible(px4_ulog.mended(log, tables) if topics else log)


def _tables(bag: Bag, topics: dict[str, str]) -> Tables:
    """The messages as tables; times of ROS count from the bag's first message."""
    tables: dict[str, list[LogTable]] = {}
    first: float | None = None
    for topic, name in topics.items():
        rows = [
            (_time(message, received, name), dict(_numbers(message)))
            for message, received in bag.messages(topic)
        ]
        if not rows:
            continue
        t = np.array([time for time, _ in rows])
        if "timestamp" not in rows[0][1]:
            first = t[0] if first is None else min(first, t[0])
        keys = dict.fromkeys(key for _, row in rows for key in row)
        columns = {key: np.array([row.get(key, np.nan) for _, row in rows]) for key in keys}
        _leave_out(columns, name)
        if name == OUTPUTS:  # which has channels without a motor, too
            columns = {key: x for key, x in columns.items() if np.ptp(x) > 0.0}
        tables.setdefault(name, []).append(LogTable(name, t, columns))
    if first is None:
        return tables
    return {
        name: [each._replace(t=each.t - first) for each in same] for name, same in tables.items()
    }


def _with_velocity_of_world(signals: dict[str, Signal]) -> tuple[dict[str, Signal], list[str]]:
    """The signals with the velocity along the world's axes, and a note on the axes that it had.

    Those count that leave less of the positions' derivative; where it tells neither, those of the topic by rights.
    """
    velocity = signals.get(names.VELOCITY)
    if velocity is None:
        return signals, []
    is_body = velocity.source.startswith(IN_BODY)
    attitude, position = signals.get(names.ATTITUDE), signals.get(names.POSITION)
    how = "by its topic's name: positions do not tell"
    turned = velocity
    if attitude is not None:
        q = slerp(velocity.t, attitude.t, attitude.values)
        turned = replace(velocity, values=so3.rotate(q, velocity.values))
        both = [_velocity_off(each, position) for each in (velocity, turned)]
        if max(both) > CLEARLY * min(both):
            is_body, how = both[1] < both[0], "as positions say"
    elif is_body:
        return signals, [
            "velocity: along the body's axes, and no attitude turns it: left as it is"
        ]
    if not is_body:
        return signals, [f"velocity: along the world's axes, {how}"]
    return {**signals, names.VELOCITY: turned}, [f"velocity: turned from the body's axes, {how}"]


def _velocity_off(velocity: Signal, position: Signal | None) -> float:
    """Median of what positions' derivatives leave of a velocity [m/s]; 0 without positions."""
    if position is None:
        return 0.0
    steps = np.diff(position.values, axis=0) / np.diff(position.t)[:, None]
    return float(np.median(np.linalg.norm(steps - means(velocity, position.t), axis=1)))


def _leave_out(columns: dict[str, Array], table: str) -> None:
    """Write NaN, as of what is not controlled, where a set-point's mask says so, and of set-points along body axes."""
    mask = columns.get("type_mask", np.zeros(1)).astype(int)
    in_body = columns.get("coordinate_frame", np.full(1, LOCAL_FRAME)) != LOCAL_FRAME
    for bit, left_out in IGNORED.get(table, {}).items():
        for name in left_out:
            if name in columns:
                columns[name][((mask & bit) > 0) | in_body] = np.nan


def _time(message: Any, received: int, table: str) -> float:  # noqa: ANN401
    """Time of a message [s]: of the measurement, of the publication, of its header, or of its reception."""
    sampled = getattr(message, "timestamp_sample", 0)
    if sampled and table not in px4_names.COMMANDS:
        return float(sampled) * 1e-6
    if hasattr(message, "timestamp"):
        return float(message.timestamp) * 1e-6
    return 1e-9 * (header_ns(message) if hasattr(message, "header") else received)


def _numbers(message: Any, stem: str = "") -> Iterator[tuple[str, float]]:  # noqa: ANN401
    """The numbers of a message by the path to them, as in ``pose.position.x`` and ``q[0]``."""
    for field in fields(message):
        value = getattr(message, field.name)
        if is_dataclass(value):
            yield from _numbers(value, f"{stem}{field.name}.")
        elif isinstance(value, list | tuple):  # of controllers
            for i, each in enumerate(value[:MAX_ARRAY_LENGTH]):
                if hasattr(each, "rpm"):
                    yield f"rpm[{i}]", float(each.rpm)
        elif isinstance(value, np.ndarray):
            yield from (
                (f"{stem}{field.name}[{i}]", float(x))
                for i, x in enumerate(value[:MAX_ARRAY_LENGTH])
            )
        elif isinstance(value, bool | int | float):
            yield f"{stem}{field.name}", float(value)
