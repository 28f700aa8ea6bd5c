# SPDX-License-Identifier: BSD-3-Clause
"""A renderer outside: a process of its own that turns states into images, in the place of camera_node.

You see the stamps of images, each that of the state that it shows. They show tiles on the ground; draw yours there.
Run it with: ./iap python examples/15_render_outside.py
"""

import signal
import subprocess
import sys

import numpy as np
import rclpy

from iap_description.math import so3
from iap_description.sensors.readings import ImageReading, SensorSource
from iap_io.ros.message_classes import message_class
from iap_io.sensor_messages.sensor_messages import encoder
from iap_msgs.msg import PlatformState
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import sensor_infos

IMAGES, TILE = 20 if "--quick" in sys.argv else 200, 0.5  # [m]
infos = sensor_infos(resolve("hover", Options(sensors="rgbd"))[0])
camera = next(each for each in infos if each.kind == "camera")  # its place and lens
source, T_BC = SensorSource(camera.topic, camera.frame), so3.transform(camera.p_BS_B, camera.q_BS)
EVERY = round(200.0 / camera.rate)  # states in one of its periods
(fx, _, cx), (_, fy, cy), _ = np.reshape(camera.K, (3, 3))
v, u = np.mgrid[: camera.height, : camera.width]
rays_C = np.stack([(u - cx) / fx, (v - cy) / fy, np.ones(u.shape)], -1)  # right, down, forward

words = "--nodes physics_node reference_node controller_node --ros-args -p physics_node:scenario:=hover"
words += " -p reference_node:scenario:=hover -p controller_node:platform:=three_star"
command = [sys.executable, "-P", "-m", "iap_bringup.nodes.sim_container", *words.split()]
simulation = subprocess.Popen(command)
rclpy.init()
node, states, turn, count, encode = rclpy.create_node("renderer"), [], -1, 0, encoder(camera)
outlets = {n: node.create_publisher(message_class(k), n, 10) for n, k in encode.topics.items()}
node.create_subscription(PlatformState, "/iap/state", states.append, 1)
while count < IMAGES and simulation.poll() is None:
    rclpy.spin_once(node, timeout_sec=1.0)
    if not states or states[-1].sequence // EVERY == turn:
        continue  # nothing new, or its period has an image
    state, turn, count = states[-1], states[-1].sequence // EVERY, count + 1
    pose = state.poses[state.body_names.index(camera.parent.split("/")[1])]
    p, q = pose.position, pose.orientation  # of the body that carries it, in map
    T_WC = so3.transform([p.x, p.y, p.z], [q.x, q.y, q.z, q.w]) @ T_BC
    rays_W = rays_C @ T_WC[:3, :3].T
    depth = -T_WC[2, 3] / np.minimum(rays_W[..., 2], -1e-6)  # [m] to the ground, along the view
    tiles = np.floor((T_WC[:2, 3] + depth[..., None] * rays_W[..., :2]) / TILE).sum(-1) % 2
    depth[rays_W[..., 2] >= 0.0] = np.inf  # the sky
    grey = np.where(np.isinf(depth), 220, 80 + 100 * tiles).astype(np.uint8)
    t = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
    for encoding, image in (("rgb8", np.dstack([grey] * 3)), ("32FC1", depth.astype(np.float32))):
        for topic, parts in encode(ImageReading(source, t, encoding, image)):
            outlets[topic].publish(b"".join(parts))
    print(f"image of t = {t:.3f} s")
simulation.send_signal(signal.SIGINT)
print(f"the simulation ended with exit code {simulation.wait()}")
