# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a run as messages, and messages as columns again.

Every ``fill_`` function writes columns into message records of a `iap_io.wire.cdr.MessageLayout`, and
`columns_of` is the way back.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Integers
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.math import so3
from iap_description.states import REF_FIXED, STATE_SIZE, P, Q, V
from iap_description.vehicles.gripper import LOAD_SIZE
from iap_description.vehicles.joint_motion import put_coordinates
from iap_io.runs.columns import COMMAND_SIZE, ArmColumns, Columns, WrenchColumns
from iap_io.runs.topics import (
    COMMAND,
    JOINT_COMMAND,
    JOINT_STATES,
    REFERENCE,
    REVISED,
    STATE,
    TASK,
    WRENCH_TOPICS,
    WRENCHES,
    estimate_topic,
)
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.stamps import set_stamps, stamps_of

Records = NDArray[Any]
LARGEST_WRENCH = 1e9  # of an impact [N, N m]


def fill_state(out: Records, c: Columns, vehicle: VehicleMeta) -> None:
    """Columns into PlatformState records."""
    _fill_head(out, c)
    out["poses"], out["twists"] = c.x[..., : V.start], c.x[..., V.start :]
    out["rotor_rpm"] = c.rpm.reshape(*c.t.shape, -1)
    out["rotor_tilt"] = c.tilt.reshape(*c.t.shape, -1)
    if any(joint.kind.is_free for joint in vehicle.joints):
        put_coordinates(vehicle.joints, c.x, out["joint_positions"], out["joint_velocities"])
    if c.arm is not None:
        out["joint_positions"][..., -c.arm.q.shape[-1] :] = c.arm.q
        out["joint_velocities"][..., -c.arm.v.shape[-1] :] = c.arm.v
        out["loads"][..., 0, :] = c.arm.load


def fill_arm(out: Mapping[str, Records], c: Columns, arm: ArmColumns) -> None:
    """Columns into the records of the topics `ARM_TOPICS`."""
    states, commands = out[JOINT_STATES], out[JOINT_COMMAND]
    for records in (states, commands):
        set_stamps(records["header"], stamps_ns(c.t))
    states["position"], states["velocity"], states["effort"] = arm.q, arm.v, arm.efforts
    points = commands["points"][..., 0]
    for i, key in enumerate(("positions", "velocities", "effort")):
        points[key] = arm.target[..., i, :]


def fill_reference(out: Records, c: Columns, rows: Array) -> None:
    """Columns into PlatformReference records; `rows` is the reference as given or as revised."""
    _fill_head(out, c)
    out["level"], out["wrench"] = c.level, c.reference_wrench_P
    out["pose"], out["twist"] = rows[..., :7], rows[..., 7:13]
    out["accel"], out["aircraft_yaw"] = rows[..., 13:REF_FIXED], rows[..., REF_FIXED:]


def fill_wrenches(out: Mapping[str, Records], c: Columns, record: WrenchColumns) -> None:
    """Columns into the records of the topics `WRENCH_TOPICS`."""
    for j, name in enumerate(WRENCHES):
        set_stamps(out[name]["header"], stamps_ns(c.t))
        out[name]["wrench"] = record.wrenches[..., j, :]
    fill_reference(out[REVISED], c, record.tracked)
    task = out[TASK]
    _fill_head(task, c)
    task["mode"], task["axes"] = record.mode, record.axes
    task["measured"], task["desired"] = record.measured, record.wrenches[..., 3, :]
    task["pose_integral"], task["wrench_integral"] = (
        record.integrals[..., 0, :],
        record.integrals[..., 1, :],
    )


def fill_command(out: Records, c: Columns) -> None:
    """Columns into PlatformCommand records."""
    _fill_head(out, c)
    out["mode"], out["wrench"], out["aircraft"] = c.mode, c.wrench_P, c.aircraft


def fill_odometry(out: Records, t: Array, x: Array) -> None:
    """Times (...) and states (..., 13) of a body into Odometry records, without covariances.

    The twist is in the child frame, as Odometry has it.
    """
    set_stamps(out["header"], stamps_ns(t))
    q_BW = so3.conjugate(x[..., None, Q])
    twist_B = so3.rotate(q_BW, x[..., V.start :].reshape(*t.shape, 2, 3))
    out["pose"][..., :7], out["twist"][..., :6] = x[..., :7], twist_B.reshape(*t.shape, 6)


def fill_frames(out: Records, t: Array, vehicles: Sequence[Array]) -> None:
    """Times (...) and states (..., bodies, 13) of every vehicle into records of `topics.frames_layout`."""
    stamps, number = stamps_ns(t), 0
    for x in vehicles:
        q_BW = so3.conjugate(x[..., 0, Q])
        for body in range(x.shape[-2]):
            transform = _element(out["transforms"], number)
            set_stamps(transform["header"], stamps)
            pose = transform["transform"]
            if body == 0:
                pose[...] = x[..., 0, :7]
            else:
                pose[..., P] = so3.rotate(q_BW, x[..., body, P] - x[..., 0, P])
                pose[..., Q] = so3.multiply(q_BW, x[..., body, Q])
            number += 1


def _element(array: Records, number: int) -> Records:
    """An element of an array of messages, whose elements have one size or names of their own."""
    has_names = "0" in (array.dtype.names or ())
    return array[str(number)] if has_names else array[..., number]


def stamps_ns(t: Array) -> Integers:
    """Times [s] as stamps [ns]."""
    return np.rint(np.asarray(t) * 1e9).astype(np.int64)


def seconds(stamps: Integers) -> Array:
    """Stamps [ns] as times [s]."""
    return stamps.astype(np.float64) / 1e9


def _fill_head(out: Records, c: Columns) -> None:
    set_stamps(out["header"], stamps_ns(c.t))
    out["sequence"] = c.k


def columns_of(messages: Mapping[str, Records], vehicle: VehicleMeta) -> Columns:
    """The columns of one vehicle from its messages by topic, on the states' stamps.

    Where any other message is missing, the last one is held.

    Raises:
        ValueError: stamps of states go backwards, messages are not of this vehicle, or numbers are none of a flight.
    """
    state = messages[STATE]
    stamps = stamps_of(state["header"])
    if not np.all(np.diff(stamps) > 0):
        raise ValueError(f"stamps on {STATE} go backwards")
    reference = _sample_and_hold(messages[REFERENCE], stamps)
    command = _sample_and_hold(messages[COMMAND], stamps)
    rows, count = len(state), vehicle.count
    columns = Columns(
        k=state["sequence"].astype(np.uint64),
        t=seconds(stamps),
        x=np.concatenate([state["poses"], state["twists"]], -1),
        reference=_reference_rows(reference),
        level=reference["level"].copy(),
        reference_wrench_P=reference["wrench"].astype(float),
        mode=command["mode"].copy(),
        wrench_P=command["wrench"].astype(float),
        aircraft=command["aircraft"].reshape(rows, count, COMMAND_SIZE).astype(float),
        rpm=state["rotor_rpm"].reshape(rows, count, 4).astype(float),
        tilt=state["rotor_tilt"].reshape(rows, count, 4).astype(float),
        wrench_record=_wrench_columns(messages, stamps) if vehicle.feels else None,
        estimated=_estimated(messages, vehicle, stamps) if vehicle.is_estimated else None,
        arm=_arm_columns(messages, stamps) if vehicle.arm_joints else None,
    )
    columns.check_shapes(Columns.zeros(0, vehicle))
    _check_numbers(columns.rows(slice(recorded_rows(columns))))
    return columns


def recorded_rows(c: Columns) -> int:
    """Number of rows before the first state that is not a number, or none of a flight: how flights end that diverge."""
    bad = np.flatnonzero(~(np.abs(c.x) <= MAX_SI_NUMBER).all(axis=(1, 2)))
    return int(bad[0]) if bad.size else len(c.t)


def _check_numbers(c: Columns) -> None:
    """Refuse what no flight records beside states of a flight; estimates and wrenches may be unknown."""
    record = c.wrench_record
    tracked, wrenches = (None, None) if record is None else (record.tracked, record.wrenches)
    joints = None if c.arm is None else np.stack([c.arm.q, c.arm.v, c.arm.efforts])
    load = None if c.arm is None else c.arm.load
    for name, values, largest, may_be_nan in (
        ("reference", c.reference, MAX_SI_NUMBER, False),
        ("rotor speed", c.rpm, MAX_SI_NUMBER, False),
        ("rotor tilt", c.tilt, MAX_SI_NUMBER, False),
        ("estimate", c.estimated, MAX_SI_NUMBER, True),
        ("revised reference", tracked, MAX_SI_NUMBER, False),
        ("wrench", wrenches, LARGEST_WRENCH, True),
        ("joint of the arm", joints, MAX_SI_NUMBER, False),
        ("load of the arm", load, MAX_SI_NUMBER, False),
    ):
        if values is not None:
            sizes = np.abs(values)
            bad = sizes > largest if may_be_nan else ~(sizes <= largest)
            if bad.any():
                raise ValueError(f"{name}: {values[bad][0]} is beyond {largest:g}, or none")


def _estimated(messages: Mapping[str, Records], vehicle: VehicleMeta, stamps: Integers) -> Array:
    rows = np.full((len(stamps), len(vehicle.bodies), STATE_SIZE), np.nan)
    for j, body in enumerate(vehicle.bodies):
        odometry = messages.get(estimate_topic(body))
        if odometry is not None:
            _, here, there = np.intersect1d(
                stamps, stamps_of(odometry["header"]), assume_unique=True, return_indices=True
            )
            rows[here, j] = _states(odometry[there])
    return rows


def _states(odometry: Records) -> Array:
    """States (M, 13) of a body from Odometry records."""
    poses = odometry["pose"][:, : V.start].astype(float)
    twists_B = odometry["twist"][:, :6].astype(float).reshape(-1, 2, 3)
    return np.hstack([poses, so3.rotate(poses[:, None, Q], twists_B).reshape(-1, 6)])


def _wrench_columns(messages: Mapping[str, Records], stamps: Integers) -> WrenchColumns:
    latest = {name: _sample_and_hold(messages[name], stamps) for name in WRENCH_TOPICS}
    task = latest[TASK]
    return WrenchColumns(
        wrenches=np.stack([latest[name]["wrench"] for name in WRENCHES], axis=1).astype(float),
        tracked=_reference_rows(latest[REVISED]),
        mode=task["mode"].copy(),
        axes=task["axes"].copy(),
        measured=task["measured"].astype(float),
        integrals=np.stack([task["pose_integral"], task["wrench_integral"]], 1).astype(float),
    )


def _arm_columns(messages: Mapping[str, Records], stamps: Integers) -> ArmColumns:
    state = messages[STATE]
    load = np.zeros((len(state), LOAD_SIZE))
    if "loads" in (state.dtype.names or ()):  # none in recordings of earlier versions
        load[:] = state["loads"][:, 0]
    states, commands = (
        _sample_and_hold(messages[name], stamps) for name in (JOINT_STATES, JOINT_COMMAND)
    )
    points = commands["points"][:, 0]
    parts = [points[key] for key in ("positions", "velocities", "effort")]
    q, v, efforts = (states[key].astype(float) for key in ("position", "velocity", "effort"))
    return ArmColumns(q, v, efforts, np.stack(parts, axis=1).astype(float), load)


def _reference_rows(records: Records) -> Array:
    return np.hstack([records[name] for name in ("pose", "twist", "accel", "aircraft_yaw")])


def _sample_and_hold(records: Records, stamps: Integers) -> Records:
    """For each stamp the last record that is not younger (where there is none, the first)."""
    message_stamps = stamps_of(records["header"])
    if np.array_equal(message_stamps, stamps):
        return records
    return records[np.maximum(np.searchsorted(message_stamps, stamps, side="right") - 1, 0)]
