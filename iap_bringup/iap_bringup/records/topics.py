# SPDX-License-Identifier: BSD-3-Clause
"""The recorded topics: how columns of a run become messages, and messages columns again.

A column is an array with one row per control tick. `Columns` is what the loop hands over for one
vehicle; every ``fill_`` function writes columns into message records of a
`iap_description.cdr.Layout`, and `columns_of` is the way back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys.store import Typestore

from iap_bringup.records.run_meta import VehicleMeta
from iap_bringup.step import Felt, Step
from iap_description import so3
from iap_description.cdr import message, set_stamps, stamps_of
from iap_description.states import REF_FIXED, STATE_SIZE, Q, V, W

Array = NDArray[np.float64]
Records = NDArray[Any]
STATE, REFERENCE, COMMAND = "state", "reference", "command"
ESTIMATED = "state/estimated"  # of a vehicle that goes by an estimate, between nodes
REVISED, TASK = "reference/revised", "wrench/task"
WRENCHES = ("wrench/raw", "wrench/filtered", "wrench/estimated", "wrench/reference")
FELT = (*WRENCHES, REVISED, TASK)  # of a vehicle that has something to feel
GIVEN, ACTUAL = "reference/pose", "actual"
TYPES = {
    STATE: "iap_msgs/msg/PlatformState",
    REFERENCE: "iap_msgs/msg/PlatformReference",
    COMMAND: "iap_msgs/msg/PlatformCommand",
    REVISED: "iap_msgs/msg/PlatformReference",
    TASK: "iap_msgs/msg/ForceTask",
}
ESTIMATE = "virpo/odometry"  # of a vehicle that flies on an estimate, what it believes
WRENCH = "geometry_msgs/msg/WrenchStamped"
ODOMETRY, POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped"
MAP = "map"


def topic(vehicle: str, name: str) -> str:
    """Absolute name of a topic of a vehicle."""
    return f"/{vehicle}/{name}"


class Table:
    """A dataclass of arrays (and of such) that have a row for every control tick; None is a part that is not there."""

    def rows(self, chosen: slice) -> Self:
        """Some of the rows."""
        return self._each(lambda a: a[chosen], lambda part: part.rows(chosen))

    def shaped(self, *lead: int) -> Self:
        """The same rows with `lead` dimensions in place of one."""
        return self._each(
            lambda a: a.reshape(*lead, *a.shape[1:]), lambda part: part.shaped(*lead)
        )

    def _each(self, of_array: Callable[[Any], Any], of_part: Callable[["Table"], Any]) -> Self:
        changed = {}
        for field in fields(self):  # type: ignore[arg-type] # heirs are dataclasses
            value = getattr(self, field.name)
            if value is not None:
                value = of_part(value) if isinstance(value, Table) else of_array(value)
            changed[field.name] = value
        return type(self)(**changed)


@dataclass
class FeltColumns(Table):
    """What a vehicle felt, one row per control tick; wrenches of the environment on the platform, in P.

    Attributes:
        wrenches: (K, 4, 6) raw, filtered, estimated and desired.
        tracked: (K, 19 + N) the reference as the admittance revised it.
        mode: (K,) `iap_control.force_task.ForceMode`.
        axes: (K, 6) 1 where the wrench is controlled.
        measured: (K, 6) the wrench that was acted upon.
        integrals: (K, 2, 6) shares of the integrals of pose and wrench errors in the active wrench.
    """

    wrenches: Array
    tracked: Array
    mode: NDArray[np.uint8]
    axes: NDArray[np.uint8]
    measured: Array
    integrals: Array

    @classmethod
    def zeros(cls, rows: int, count: int) -> "FeltColumns":
        """Empty columns for `rows` ticks of `count` aircraft."""
        return cls(
            wrenches=np.zeros((rows, len(WRENCHES), 6)),
            tracked=np.zeros((rows, REF_FIXED + count)),
            mode=np.zeros(rows, np.uint8),
            axes=np.zeros((rows, 6), np.uint8),
            measured=np.zeros((rows, 6)),
            integrals=np.zeros((rows, 2, 6)),
        )

    def put(self, i: int, felt: Felt) -> None:
        """Set row i."""
        wrenches, task = self.wrenches[i], felt.task
        wrenches[0], wrenches[1], wrenches[2] = felt.raw_P, felt.filtered_P, felt.estimated_P
        self.tracked[i] = felt.tracked.row
        if task is not None:
            wrenches[3], self.measured[i] = task.desired_P, task.measured_P
            self.mode[i], self.axes[i] = task.mode, task.axes
            self.integrals[i, 0], self.integrals[i, 1] = (
                task.pose_integral_P,
                task.wrench_integral_P,
            )


@dataclass
class Columns(Table):
    """One vehicle's rows, one per control tick; N aircraft.

    Attributes:
        k: (K,) tick number.
        t: (K,) simulation time [s].
        x: (K, bodies, 13) states, see `iap_description.states`.
        reference: (K, 19 + N) reference rows.
        level: (K,) what of the reference is tracked.
        reference_wrench_P: (K, 6) the reference's wrench.
        mode: (K,) what the command says.
        wrench_P: (K, 6) commanded wrench.
        aircraft: (K, N, 12) commanded thrust [N], q_WB, w_WB_B [rad/s], rotor speeds [rpm].
        rpm: (K, N, 4) real rotor speeds.
        felt: None for a vehicle that has nothing to feel.
        believed: (K, bodies, 13) states that commands are based on, NaN where they are not recorded; None for a
            vehicle that goes by the truth.
    """

    k: NDArray[np.uint64]
    t: Array
    x: Array
    reference: Array
    level: NDArray[np.uint8]
    reference_wrench_P: Array
    mode: NDArray[np.uint8]
    wrench_P: Array
    aircraft: Array
    rpm: Array
    felt: FeltColumns | None
    believed: Array | None = None

    @classmethod
    def zeros(cls, rows: int, vehicle: VehicleMeta) -> "Columns":
        """Empty columns for `rows` ticks."""
        bodies, count = len(vehicle.bodies), vehicle.count
        return cls(
            k=np.zeros(rows, np.uint64),
            t=np.zeros(rows),
            x=np.zeros((rows, bodies, STATE_SIZE)),
            reference=np.zeros((rows, REF_FIXED + count)),
            level=np.zeros(rows, np.uint8),
            reference_wrench_P=np.zeros((rows, 6)),
            mode=np.zeros(rows, np.uint8),
            wrench_P=np.zeros((rows, 6)),
            aircraft=np.zeros((rows, count, 12)),
            rpm=np.zeros((rows, count, 4)),
            felt=FeltColumns.zeros(rows, count) if vehicle.feels else None,
            believed=np.full((rows, bodies, STATE_SIZE), np.nan) if vehicle.is_estimated else None,
        )

    def put(self, i: int, step: Step) -> None:
        """Set row i."""
        reference, command = step.reference, step.command
        self.k[i], self.t[i], self.x[i], self.rpm[i] = step.k, step.t, step.x, step.rpm
        self.reference[i], self.level[i] = reference.row, reference.level
        self.reference_wrench_P[i] = reference.wrench_P
        self.mode[i], self.wrench_P[i] = command.mode, command.wrench_P
        aircraft = self.aircraft[i]
        aircraft[:, 0], aircraft[:, 1:5] = command.thrust, command.q_WB
        aircraft[:, 5:8], aircraft[:, 8:] = command.w_WB_B, command.rpm
        if self.felt is not None and step.felt is not None:
            self.felt.put(i, step.felt)
        if self.believed is not None:
            self.believed[i] = np.nan if step.believed is None else step.believed


def samples(store: Typestore, vehicle: VehicleMeta) -> dict[str, object]:
    """By topic of a vehicle, one message with the strings and lengths that all of them have."""
    bodies, joints, count = vehicle.bodies, vehicle.joints, vehicle.count
    free = sum(joint.type == "spherical" for joint in joints)
    header = message(store, "std_msgs/msg/Header", frame_id=MAP)
    state = message(
        store,
        TYPES[STATE],
        header=header,
        body_names=list(bodies),
        poses=[message(store, "geometry_msgs/msg/Pose") for _ in bodies],
        twists=[message(store, "geometry_msgs/msg/Twist") for _ in bodies],
        joint_names=[joint.name for joint in joints],
        joint_positions=np.zeros(4 * free),
        joint_velocities=np.zeros(3 * free),
        rotor_rpm=np.zeros(4 * count),
    )
    aircraft = [message(store, "iap_msgs/msg/AircraftCommand") for _ in range(count)]
    kinds = (odometry_topic, estimate_topic) if vehicle.is_estimated else (odometry_topic,)
    odometry = {
        kind(body): message(
            store, ODOMETRY, header=header, child_frame_id=f"{vehicle.name}/{body}"
        )
        for kind in kinds
        for body in bodies
    }
    return {
        STATE: state,
        REFERENCE: message(store, TYPES[REFERENCE], header=header, aircraft_yaw=np.zeros(count)),
        COMMAND: message(store, TYPES[COMMAND], header=header, aircraft=aircraft),
        **(_felt_samples(store, vehicle) if vehicle.feels else {}),
        **odometry,
    }


def _felt_samples(store: Typestore, vehicle: VehicleMeta) -> dict[str, object]:
    in_map = message(store, "std_msgs/msg/Header", frame_id=MAP)
    in_P = message(store, "std_msgs/msg/Header", frame_id=f"{vehicle.name}/{vehicle.bodies[0]}")
    wrench = message(store, WRENCH, header=in_P)
    yaws, axes = np.zeros(vehicle.count), np.zeros(6, np.uint8)
    return {
        **dict.fromkeys(WRENCHES, wrench),
        REVISED: message(store, TYPES[REVISED], header=in_map, aircraft_yaw=yaws),
        TASK: message(store, TYPES[TASK], header=in_P, axes=axes),
    }


def pose_sample(store: Typestore) -> object:
    """A PoseStamped in `MAP`."""
    return message(store, POSE, header=message(store, "std_msgs/msg/Header", frame_id=MAP))


def odometry_topic(body: str) -> str:
    """Topic of a body's odometry."""
    return "odom" if body == "base_link" else f"{body}/odom"


def estimate_topic(body: str) -> str:
    """Topic of what is believed of a body."""
    return ESTIMATE if body == "base_link" else f"{body}/{ESTIMATE}"


def fill_state(out: Records, c: Columns, vehicle: VehicleMeta) -> None:
    """Columns into PlatformState records."""
    _fill_head(out, c)
    out["poses"], out["twists"] = c.x[..., : V.start], c.x[..., V.start :]
    out["rotor_rpm"] = c.rpm.reshape(*c.t.shape, -1)
    free = [(joint.parent, joint.child) for joint in vehicle.joints if joint.type == "spherical"]
    if free:
        parent, child = c.x[..., [a for a, _ in free], :], c.x[..., [b for _, b in free], :]
        q_PB = so3.multiply(so3.conjugate(parent[..., Q]), child[..., Q])
        w_PB_B = so3.rotate(so3.conjugate(child[..., Q]), child[..., W] - parent[..., W])
        out["joint_positions"] = q_PB.reshape(*c.t.shape, -1)
        out["joint_velocities"] = w_PB_B.reshape(*c.t.shape, -1)


def fill_reference(out: Records, c: Columns, rows: Array) -> None:
    """Columns into PlatformReference records; `rows` is the reference as given or as revised."""
    _fill_head(out, c)
    out["level"], out["wrench"] = c.level, c.reference_wrench_P
    out["pose"], out["twist"] = rows[..., :7], rows[..., 7:13]
    out["accel"], out["aircraft_yaw"] = rows[..., 13:REF_FIXED], rows[..., REF_FIXED:]


def fill_felt(out: Mapping[str, Records], c: Columns, felt: FeltColumns) -> None:
    """Columns into the records of the topics `FELT`."""
    for j, name in enumerate(WRENCHES):
        set_stamps(out[name]["header"], stamps_ns(c.t))
        out[name]["wrench"] = felt.wrenches[..., j, :]
    fill_reference(out[REVISED], c, felt.tracked)
    task = out[TASK]
    _fill_head(task, c)
    task["mode"], task["axes"] = felt.mode, felt.axes
    task["measured"], task["desired"] = felt.measured, felt.wrenches[..., 3, :]
    task["pose_integral"], task["wrench_integral"] = (
        felt.integrals[..., 0, :],
        felt.integrals[..., 1, :],
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


def stamps_ns(t: Array) -> NDArray[np.int64]:
    """Times [s] as stamps [ns]."""
    return np.rint(np.asarray(t) * 1e9).astype(np.int64)


def seconds(stamps: NDArray[np.int64]) -> Array:
    """Stamps [ns] as times [s]."""
    return stamps.astype(np.float64) / 1e9


def _fill_head(out: Records, c: Columns) -> None:
    set_stamps(out["header"], stamps_ns(c.t))
    out["sequence"] = c.k


def columns_of(messages: Mapping[str, Records], vehicle: VehicleMeta) -> Columns:
    """The columns of one vehicle from its messages by topic, on the states' stamps.

    Where any other message is missing, the last one is held.
    """
    state = messages[STATE]
    stamps = stamps_of(state["header"])
    reference = _held(messages[REFERENCE], stamps)
    command = _held(messages[COMMAND], stamps)
    rows, count = len(state), vehicle.count
    return Columns(
        k=state["sequence"].astype(np.uint64),
        t=seconds(stamps),
        x=np.concatenate([state["poses"], state["twists"]], -1),
        reference=_reference_rows(reference),
        level=reference["level"].copy(),
        reference_wrench_P=reference["wrench"].astype(float),
        mode=command["mode"].copy(),
        wrench_P=command["wrench"].astype(float),
        aircraft=command["aircraft"].reshape(rows, count, 12).astype(float),
        rpm=state["rotor_rpm"].reshape(rows, count, 4).astype(float),
        felt=_felt_columns(messages, stamps) if vehicle.feels else None,
        believed=_believed(messages, vehicle, stamps) if vehicle.is_estimated else None,
    )


def _believed(
    messages: Mapping[str, Records], vehicle: VehicleMeta, stamps: NDArray[np.int64]
) -> Array:
    rows = np.full((len(stamps), len(vehicle.bodies), STATE_SIZE), np.nan)
    for j, body in enumerate(vehicle.bodies):
        told = messages.get(estimate_topic(body))
        if told is not None:
            _, here, there = np.intersect1d(
                stamps, stamps_of(told["header"]), assume_unique=True, return_indices=True
            )
            rows[here, j] = _states(told[there])
    return rows


def _states(odometry: Records) -> Array:
    """States (M, 13) of a body, as Odometry records tell them."""
    poses = odometry["pose"][:, : V.start].astype(float)
    twists_B = odometry["twist"][:, :6].astype(float).reshape(-1, 2, 3)
    return np.hstack([poses, so3.rotate(poses[:, None, Q], twists_B).reshape(-1, 6)])


def _felt_columns(messages: Mapping[str, Records], stamps: NDArray[np.int64]) -> FeltColumns:
    held = {name: _held(messages[name], stamps) for name in FELT}
    task = held[TASK]
    return FeltColumns(
        wrenches=np.stack([held[name]["wrench"] for name in WRENCHES], axis=1).astype(float),
        tracked=_reference_rows(held[REVISED]),
        mode=task["mode"].copy(),
        axes=task["axes"].copy(),
        measured=task["measured"].astype(float),
        integrals=np.stack([task["pose_integral"], task["wrench_integral"]], 1).astype(float),
    )


def _reference_rows(records: Records) -> Array:
    return np.hstack([records[name] for name in ("pose", "twist", "accel", "aircraft_yaw")])


def _held(records: Records, stamps: NDArray[np.int64]) -> Records:
    """For each stamp the last record that is not younger (where there is none, the first)."""
    own = stamps_of(records["header"])
    if np.array_equal(own, stamps):
        return records
    return records[np.maximum(np.searchsorted(own, stamps, side="right") - 1, 0)]
