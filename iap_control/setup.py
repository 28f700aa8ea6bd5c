# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_control as a ROS 2 package."""

import sys

from setuptools import find_packages, setup

NAME = "iap_control"
VERSION = "0.6.0"
NODES = [  # for ros2 run; a wheel has none, since they need ROS 2 and a folder of their own
    "admittance_node = iap_control.nodes.admittance_node:main",
    "controller_node = iap_control.nodes.controller_node:main",
    "coordinator_node = iap_control.nodes.coordinator_node:main",
    "offboard_node = iap_control.nodes.offboard_node:main",
    "reference_node = iap_control.nodes.reference_node:main",
    "setpoint_node = iap_control.nodes.setpoint_node:main",
]
if {"bdist_wheel", "dist_info"} & set(sys.argv):
    NODES = []

setup(
    name=NAME,
    version=VERSION,
    description="What it commands: control laws, allocation, admittance, references and their nodes.",
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
    install_requires=[
        f"iap_description=={VERSION}",
        f"iap_io=={VERSION}",
        "numba>=0.68,<0.70",  # kernels use its cache and compiler passes, which its releases change
        "numpy>=2.1,<3",  # the first for Python 3.13
        "pydantic>=2.9,<3",  # the first for Python 3.13
    ],
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
    entry_points={
        "console_scripts": NODES,
    },
)
