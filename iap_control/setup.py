# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_control as a ROS 2 package."""

from setuptools import find_packages, setup

NAME = "iap_control"

setup(
    name=NAME,
    version="0.5.0",
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
    install_requires=["setuptools"],
    zip_safe=False,
    entry_points={
        "console_scripts": [
            "admittance_node = iap_control.nodes.admittance_node:main",
            "controller_node = iap_control.nodes.controller_node:main",
            "coordinator_node = iap_control.nodes.coordinator_node:main",
            "reference_node = iap_control.nodes.reference_node:main",
        ],
    },
)
