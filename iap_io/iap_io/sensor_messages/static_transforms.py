# SPDX-License-Identifier: BSD-3-Clause
"""The frames of sensors: where they are fixed, for the recording's ``/tf_static``."""

from collections.abc import Iterable

from iap_description.math import euler
from iap_description.sensors.mounts import Q_SC
from iap_description.sensors.sensor_info import FixedFrame, SensorInfo
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.urdf import hinge_frame, is_hinge, mount_frame, optical_frame
from iap_io.wire.cdr import in_frame, message, serialised

TF_STATIC, TF = "/tf_static", "tf2_msgs/msg/TFMessage"


def mounts_of(assembly: Assembly) -> tuple[FixedFrame, ...]:
    """Every mount of a vehicle on its body, and the optical frames of cameras on theirs, as the URDF has them."""
    frames = []
    for body in assembly.bodies:
        for name, mount in body.mounts.items():
            frame = f"{assembly.name}/{mount_frame(body.name, name)}"
            turn = euler.quaternion_from_rpy_deg(mount.rpy_deg)
            parent = f"{assembly.name}/{body.name}"
            q_BS = tuple(turn.tolist())
            frames.append(FixedFrame(frame=frame, parent=parent, p_BS_B=mount.position, q_BS=q_BS))
            if name.endswith("camera"):
                optical = f"{assembly.name}/{optical_frame(body.name, name)}"
                place = (0.0, 0.0, 0.0)
                frames.append(
                    FixedFrame(
                        frame=optical, parent=frame, p_BS_B=place, q_BS=tuple(Q_SC.tolist())
                    )
                )
    return tuple(frames)


def hinges_of(assembly: Assembly) -> tuple[FixedFrame, ...]:
    """The frame at the axis of every hinge that is not at its body's CoM, on that body."""
    joints = [each for each in assembly.joints if is_hinge(each) and each.p_CJ_C.any()]
    return tuple(
        FixedFrame(
            frame=f"{assembly.name}/{hinge_frame(body)}",
            parent=f"{assembly.name}/{body}",
            p_BS_B=tuple(joint.p_CJ_C.tolist()),
            q_BS=(0.0, 0.0, 0.0, 1.0),
        )
        for joint in joints
        for body in [assembly.bodies[joint.child].name]
    )


def tf_message(frames: Iterable[FixedFrame]) -> bytes:
    """A tf2_msgs/TFMessage of fixed frames, serialised, with stamp 0."""
    transforms = []
    for each in frames:
        x, y, z = each.p_BS_B
        qx, qy, qz, qw = each.q_BS
        place = message("geometry_msgs/msg/Vector3", x=x, y=y, z=z)
        turn = message("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw)
        transforms.append(
            in_frame(
                "geometry_msgs/msg/TransformStamped",
                each.parent,
                child_frame_id=each.frame,
                transform=message("geometry_msgs/msg/Transform", translation=place, rotation=turn),
            )
        )
    return serialised(message(TF, transforms=transforms))


def fixed_frames(mounts: Iterable[FixedFrame], sensors: Iterable[SensorInfo]) -> list[FixedFrame]:
    """The vehicles' mounts, and the sensors that sit on none of them, such as cameras in the world."""
    frames = {each.frame: each for each in mounts}
    for sensor in sensors:
        alone = FixedFrame(**{key: getattr(sensor, key) for key in FixedFrame.model_fields})
        frames.setdefault(sensor.frame, alone)
    return list(frames.values())
