# SPDX-License-Identifier: BSD-3-Clause
"""The recorded topics: how columns of a run become messages, and messages columns again.

A column is an array with one row per control tick. `Columns` is what the loop hands over for one
vehicle; every ``fill_`` function writes columns into message records of a
`iap_description.cdr.Layout`, and `columns_of` is the way back.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.typesys.store import Typestore

from iap_bringup.records.run_meta import VehicleMeta
from iap_description import so3
from iap_description.cdr import message, set_stamps, stamps_of
from iap_description.states import REF_FIXED, STATE_SIZE, Q, V, W

Array = NDArray[np.float64]
Records = NDArray[Any]
STATE, REFERENCE, COMMAND = "state", "reference", "command"
GIVEN, ACTUAL = "reference/pose", "actual"
TYPES = {
    STATE: "iap_msgs/msg/PlatformState",
    REFERENCE: "iap_msgs/msg/PlatformReference",
    COMMAND: "iap_msgs/msg/PlatformCommand",
}
ODOMETRY, POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped"
MAP = "map"


def topic(vehicle: str, name: str) -> str:
    """Absolute name of a topic of a vehicle."""
    return f"/{vehicle}/{name}"


@dataclass
class Columns:
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
        )

    def rows(self, chosen: slice) -> "Columns":
        """Some of the rows."""
        return Columns(**{name: a[chosen] for name, a in vars(self).items()})

    def shaped(self, *lead: int) -> "Columns":
        """The same rows with `lead` dimensions in place of one."""
        return Columns(**{name: a.reshape(*lead, *a.shape[1:]) for name, a in vars(self).items()})


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
    odometry = {
        odometry_topic(body): message(
            store, ODOMETRY, header=header, child_frame_id=f"{vehicle.name}/{body}"
        )
        for body in bodies
    }
    return {
        STATE: state,
        REFERENCE: message(store, TYPES[REFERENCE], header=header, aircraft_yaw=np.zeros(count)),
        COMMAND: message(store, TYPES[COMMAND], header=header, aircraft=aircraft),
        **odometry,
    }


def pose_sample(store: Typestore) -> object:
    """A PoseStamped in `MAP`."""
    return message(store, POSE, header=message(store, "std_msgs/msg/Header", frame_id=MAP))


def odometry_topic(body: str) -> str:
    """Topic of a body's odometry."""
    return "odom" if body == "base_link" else f"{body}/odom"


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


def fill_reference(out: Records, c: Columns) -> None:
    """Columns into PlatformReference records."""
    _fill_head(out, c)
    out["level"], out["wrench"] = c.level, c.reference_wrench_P
    out["pose"], out["twist"] = c.reference[..., :7], c.reference[..., 7:13]
    out["accel"], out["aircraft_yaw"] = (
        c.reference[..., 13:REF_FIXED],
        c.reference[..., REF_FIXED:],
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


def columns_of(
    state: Records, reference: Records, command: Records, vehicle: VehicleMeta
) -> Columns:
    """The columns of one vehicle from its messages, on the states' stamps.

    Where a reference or command is missing, the last one is held.
    """
    stamps = stamps_of(state["header"])
    reference = _held(reference, stamps)
    command = _held(command, stamps)
    rows, count = len(state), vehicle.count
    return Columns(
        k=state["sequence"].astype(np.uint64),
        t=seconds(stamps),
        x=np.concatenate([state["poses"], state["twists"]], -1),
        reference=np.hstack(
            [reference[name] for name in ("pose", "twist", "accel", "aircraft_yaw")]
        ),
        level=reference["level"].copy(),
        reference_wrench_P=reference["wrench"].astype(float),
        mode=command["mode"].copy(),
        wrench_P=command["wrench"].astype(float),
        aircraft=command["aircraft"].reshape(rows, count, 12).astype(float),
        rpm=state["rotor_rpm"].reshape(rows, count, 4).astype(float),
    )


def _held(records: Records, stamps: NDArray[np.int64]) -> Records:
    """For each stamp the last record that is not younger (where there is none, the first)."""
    own = stamps_of(records["header"])
    if np.array_equal(own, stamps):
        return records
    return records[np.maximum(np.searchsorted(own, stamps, side="right") - 1, 0)]
