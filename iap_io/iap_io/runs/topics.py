# SPDX-License-Identifier: BSD-3-Clause
"""The recorded topics: their names and types, and messages with all that stays the same in a run."""

import numpy as np
from rosbags.typesys.store import Typestore

from iap_io.runs.run_meta import VehicleMeta
from iap_io.wire.cdr import message

STATE, REFERENCE, COMMAND = "state", "reference", "command"
WORLD_STATE = "/world/state"  # of the world's objects
ESTIMATED = "state/estimated"  # of a vehicle that goes by an estimate, between nodes
REVISED, TASK = "reference/revised", "wrench/task"
WRENCHES = ("wrench/raw", "wrench/filtered", "wrench/estimated", "wrench/reference")
WRENCH_TOPICS = (*WRENCHES, REVISED, TASK)  # of a vehicle that has something to feel
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


def samples(store: Typestore, vehicle: VehicleMeta) -> dict[str, object]:
    """By topic of a vehicle, one message with the strings and lengths that all of them have."""
    bodies, joints, count = vehicle.bodies, vehicle.joints, vehicle.count
    header = message(store, "std_msgs/msg/Header", frame_id=MAP)
    state = message(
        store,
        TYPES[STATE],
        header=header,
        body_names=list(bodies),
        poses=[message(store, "geometry_msgs/msg/Pose") for _ in bodies],
        twists=[message(store, "geometry_msgs/msg/Twist") for _ in bodies],
        joint_names=[joint.name for joint in joints],
        joint_positions=np.zeros(sum(joint.kind.position_size for joint in joints)),
        joint_velocities=np.zeros(sum(joint.kind.velocity_size for joint in joints)),
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
        **(_wrench_samples(store, vehicle) if vehicle.feels else {}),
        **odometry,
    }


def _wrench_samples(store: Typestore, vehicle: VehicleMeta) -> dict[str, object]:
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
