# SPDX-License-Identifier: BSD-3-Clause
"""The recorded topics: their names, and the layouts of their messages."""

from collections.abc import Sequence

from iap_description.frames import MAP
from iap_io.runs.vehicle_meta import TRUTH, VehicleMeta
from iap_io.wire.cdr import MessageLayout, in_frame, message
from iap_io.wire.joint_views import JointCommandMessage, JointStateMessage
from iap_io.wire.message import Message
from iap_io.wire.message_views import CommandMessage, ReferenceMessage, StateMessage
from iap_io.wire.sample_views import ForceTaskMessage, OdometryMessage, WrenchMessage

BAG = "bag"  # folder of the bag within the run folder
META = "iap_run"  # key of the RunMeta in the bag's custom data

STATE, REFERENCE, COMMAND = "state", "reference", "command"
WORLD_STATE = "world/state"  # of the world's objects, below a simulation's namespace
OBJECTS = f"/{WORLD_STATE}"  # the same in a recording
MEASURED = "state/measured"  # of a vehicle whose state has noise, between nodes
ESTIMATED = "state/estimated"  # of a vehicle that goes by an estimate, between nodes
REVISED, TASK = "reference/revised", "wrench/task"
PLANNED = "reference/policy"  # of a policy, for a vehicle's controller, between nodes
WRENCHES = ("wrench/raw", "wrench/filtered", "wrench/estimated", "wrench/reference")
WRENCH_TOPICS = (*WRENCHES, REVISED, TASK)  # of a vehicle that measures wrenches
JOINT_STATES, JOINT_COMMAND = "joint_states", "joints/command"  # of a vehicle with an arm
ARM_TOPICS = (JOINT_STATES, JOINT_COMMAND)
GRIPPER_STATE, GRIPPER_COMMAND = "gripper/state", "gripper/command"  # between nodes
GRIPPER = ("gripper",)  # names in the messages of both
TIP_TWIST = "reference/tip"  # of an end effector that is flown by hand, between nodes
FRAMES, DESCRIPTION = "/tf", "robot_description"  # of all bodies, and the URDF of a vehicle
REFERENCE_POSE, ACTUAL = "reference/pose", "actual"
ACTUAL_WRENCH = "wrench/actual"  # as it was measured on a real aircraft
ESTIMATE = "virpo/odometry"  # of a vehicle that flies on an estimate
HEALTH = "virpo/health"  # of an estimator, in the namespace of its vehicle or aircraft
LATCH_STATE = "latches"  # phases of those between vehicles, below a simulation's namespace
LATCHES = f"/{LATCH_STATE}"  # the same in a recording
JOINTS = "/joints"  # between modules, as their coordinator has them
JOINT_WRENCHES = "joints/wrenches"  # that they bear, between nodes
COORDINATED = "reference/coordinated"  # of a module, between nodes
POSE = "geometry_msgs/msg/PoseStamped"


def topic(vehicle: str, name: str) -> str:
    """Absolute name of a topic of a vehicle."""
    return f"/{vehicle}/{name}"


def layouts(vehicle: VehicleMeta) -> dict[str, MessageLayout]:
    """By topic of a vehicle, the layout of its messages, whose strings and lengths stay the same in a run."""
    count, joints = vehicle.count, vehicle.joints
    kinds = [joint.kind for joint in joints]
    arm, names = vehicle.arm_joints, [joint.name for joint in joints]
    messages: dict[str, Message] = {
        STATE: StateMessage.of_names(vehicle.bodies, names, kinds, 4 * count, arm),
        REFERENCE: ReferenceMessage.of(count),
        COMMAND: CommandMessage.of(count),
    }
    if vehicle.feels:
        base_link = f"{vehicle.name}/{vehicle.bodies[0]}"
        messages |= {name: WrenchMessage.of(base_link) for name in WRENCHES}
        messages |= {REVISED: ReferenceMessage.of(count), TASK: ForceTaskMessage.of(base_link)}
    if arm:
        messages |= {
            JOINT_STATES: JointStateMessage.of(arm),
            JOINT_COMMAND: JointCommandMessage.of(arm),
        }
    for kind in (odometry_topic, estimate_topic) if vehicle.is_estimated else (odometry_topic,):
        for body in vehicle.bodies:
            messages[kind(body)] = OdometryMessage.of(f"{vehicle.name}/{body}")
    return {name: message.layout for name, message in messages.items()}


def frames_layout(vehicles: Sequence[VehicleMeta]) -> MessageLayout:
    """The layout of `FRAMES`: central bodies in `map`, and all others in their vehicle's central body.

    Names of vehicles that fly on estimates are those of the truth, as in flights of nodes.
    """
    transforms = []
    for vehicle in vehicles:
        space = f"{vehicle.name}/{TRUTH}" if vehicle.is_estimated else vehicle.name
        base, *others = (f"{space}/{body}" for body in vehicle.bodies)
        transforms += [(MAP, base), *((base, other) for other in others)]
    kind = "geometry_msgs/msg/TransformStamped"
    messages = [in_frame(kind, parent, child_frame_id=child) for parent, child in transforms]
    return MessageLayout.of(message("tf2_msgs/msg/TFMessage", transforms=messages))


def odometry_topic(body: str) -> str:
    """Topic of a body's odometry."""
    return "odom" if body == "base_link" else f"{body}/odom"


def estimate_topic(body: str) -> str:
    """Topic of the estimate of a body."""
    return ESTIMATE if body == "base_link" else f"{body}/{ESTIMATE}"


def covariance_topics(vehicle: VehicleMeta) -> dict[str, str]:
    """By body of a vehicle that goes by an estimate, the topic of its estimated pose with its covariance."""
    if not vehicle.is_estimated:
        return {}
    return {
        body: topic(vehicle.name, "virpo/pose" if body == "base_link" else f"{body}/virpo/pose")
        for body in vehicle.bodies
    }
