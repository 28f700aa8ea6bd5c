# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_bringup: the nodes, the command line, launch files and the RViz view."""

from glob import glob

from setuptools import find_packages, setup

NAME = "iap_bringup"

setup(
    name=NAME,
    version="0.5.0",
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
    install_requires=["setuptools"],
    zip_safe=False,
    entry_points={
        "console_scripts": [
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
            "iap = iap_bringup.cli.main:main",
        ],
    },
)
