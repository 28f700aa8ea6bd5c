# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_sensors as a ROS 2 package."""

from setuptools import find_packages, setup

NAME = "iap_sensors"

setup(
    name=NAME,
    version="0.5.0",
    description="Sensors of the aircraft: inertial units, UWB, lidars, cameras, and their nodes.",
    author="IAP simulation suite contributors",
    maintainer="IAP simulation suite contributors",
    maintainer_email="maintainers@example.org",
    license="BSD-3-Clause",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["data/**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    entry_points={
        "console_scripts": [
            "imu_node = iap_sensors.nodes.imu_node:main",
            "uwb_node = iap_sensors.nodes.uwb_node:main",
            "camera_node = iap_sensors.nodes.camera_node:main",
            "lidar_node = iap_sensors.nodes.lidar_node:main",
            "sensor_node = iap_sensors.nodes.sensor_node:main",
        ],
    },
)
