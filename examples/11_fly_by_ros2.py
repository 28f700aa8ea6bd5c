# SPDX-License-Identifier: BSD-3-Clause
"""Fly by ROS 2: the simulation runs as nodes, and a node of yours tells it where to go.

You see the platform come to the poses that your node publishes. It needs ROS 2, or the wheels that ./iap installs.
Run it with: ./iap python examples/11_fly_by_ros2.py
"""

import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry

GOALS = ([0.3, 0.0, 1.6],) if "--quick" in sys.argv else ([0.5, 0.0, 1.8], [0.5, 0.5, 1.5])  # [m]
ARRIVED = 0.05  # [m]
MOST = 120.0  # wall time until it must have arrived [s]

# Physics and controller in one process, as `ros2 launch iap_bringup sim.launch.py reference:=false` starts them.
NODES = ["-m", "iap_bringup.nodes.sim_container", "--nodes", "physics_node", "controller_node"]
VALUES = ["physics_node:scenario:=hover", "controller_node:platform:=three_star"]
parameters = [word for value in VALUES for word in ("-p", value)]
command = [sys.executable, "-P", *NODES, "--ros-args", *parameters]
simulation = subprocess.Popen(command, start_new_session=True)

rclpy.init()
node = rclpy.create_node("pilot")
pilot = node.create_publisher(PoseStamped, "/iap/reference/pose", 10)
places = []
node.create_subscription(Odometry, "/iap/odom", places.append, 10)


def distance_to(goal):
    """Distance of the newest odometry from a goal [m]; infinite before the first one."""
    if not places:
        return np.inf
    p = places[-1].pose.pose.position
    return float(np.linalg.norm(np.subtract([p.x, p.y, p.z], goal)))


try:
    for goal in GOALS:
        pose = PoseStamped()
        pose.header.frame_id = "map"
        position = pose.pose.position
        position.x, position.y, position.z = goal
        deadline = time.monotonic() + MOST
        while distance_to(goal) > ARRIVED and time.monotonic() < deadline:
            if places:
                pose.header.stamp = places[-1].header.stamp  # simulation time
                pilot.publish(pose)
            rclpy.spin_once(node, timeout_sec=0.02)
        print(f"at {goal}: {1e3 * distance_to(goal):.0f} mm away")
finally:
    simulation.send_signal(signal.SIGINT)
    print(f"the simulation ended with exit code {simulation.wait(60)}")
