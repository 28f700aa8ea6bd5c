# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_estimation as a ROS 2 package."""

from setuptools import find_packages, setup

NAME = "iap_estimation"

setup(
    name=NAME,
    version="0.5.0",
    description="Estimators: odometry, wrench observers, navigation, data sets, and their nodes.",
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
            "frontend_node = iap_estimation.nodes.frontend_node:main",
            "virpo_node = iap_estimation.nodes.virpo_node:main",
            "joint_node = iap_estimation.nodes.joint_node:main",
            "capture_node = iap_estimation.nodes.capture_node:main",
            "centre_node = iap_estimation.nodes.centre_node:main",
            "wrench_observer_node = iap_estimation.nodes.wrench_observer_node:main",
        ],
    },
)
