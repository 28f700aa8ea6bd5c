# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_bringup: the nodes, the command line, launch files and the RViz view."""

import sys
from glob import glob

from setuptools import find_packages, setup

NAME = "iap_bringup"
VERSION = "0.6.0"
NODES = [  # for ros2 run; a wheel has none, since they need ROS 2 and a folder of their own
    "physics_node = iap_bringup.nodes.scenario_node:main",
    "reference_node = iap_bringup.nodes.scenario_node:main",
    "bag_player = iap_bringup.nodes.scenario_node:main",
    "imu_node = iap_bringup.nodes.scenario_node:main",
    "uwb_node = iap_bringup.nodes.scenario_node:main",
    "camera_node = iap_bringup.nodes.scenario_node:main",
    "lidar_node = iap_bringup.nodes.scenario_node:main",
    "sensor_node = iap_bringup.nodes.scenario_node:main",
    "frontend_node = iap_bringup.nodes.scenario_node:main",
    "virpo_node = iap_bringup.nodes.scenario_node:main",
    "joint_node = iap_bringup.nodes.scenario_node:main",
    "capture_node = iap_bringup.nodes.scenario_node:main",
    "centre_node = iap_bringup.nodes.scenario_node:main",
    "wrench_observer_node = iap_bringup.nodes.scenario_node:main",
    "sensor_player = iap_bringup.nodes.sensor_player:main",
    "recorder = iap_bringup.nodes.recorder:main",
    "sim_container = iap_bringup.nodes.sim_container:main",
    "measure = iap_bringup.experiments.nodes.measure:main",
    "joy_teleop = iap_bringup.nodes.joy_teleop:main",
    "keyboard_teleop = iap_bringup.nodes.keyboard_teleop:main",
    "web_view = iap_bringup.nodes.web_view:main",
]
if {"bdist_wheel", "dist_info"} & set(sys.argv):
    NODES = []

setup(
    name=NAME,
    version=VERSION,
    description="Plant, loop, scenarios, replay, recording, command line, nodes and launch files.",
    author="IAP simulation suite contributors",
    maintainer="IAP simulation suite contributors",
    maintainer_email="maintainers@example.org",
    license="BSD-3-Clause",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["data/**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", sorted(glob("launch/*.launch.py"))),
        (f"share/{NAME}/rviz", sorted(glob("rviz/*.rviz"))),
    ],
    install_requires=[
        f"iap_control=={VERSION}",
        f"iap_description=={VERSION}",
        f"iap_estimation=={VERSION}",
        f"iap_io=={VERSION}",
        f"iap_learning=={VERSION}",
        f"iap_physics=={VERSION}",
        f"iap_sensors=={VERSION}",
        f"iap_simulation=={VERSION}",
        "matplotlib>=3.10,<4",
        "numba>=0.68,<0.70",  # kernels use its cache and compiler passes, which its releases change
        "numpy>=2.1,<3",  # the first for Python 3.13
        "pillow>=11,<14",
        "pydantic>=2.9,<3",  # the first for Python 3.13
        "PyYAML>=6.0.2,<7",  # the first for Python 3.13
        "rich>=13.9,<15",  # the viewer's limit
        "rosbags>=0.11,<0.12",  # bags are read by what it keeps to itself
        "scipy>=1.14,<2",  # the first for Python 3.13; numba multiplies matrices by it
        "trimesh>=4.5,<6",
        "xacro>=2.1,<3",
    ],
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
    entry_points={
        "console_scripts": ["iap = iap_bringup.cli.main:main", *NODES],
    },
)
