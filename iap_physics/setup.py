# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_physics as a ROS 2 package."""

from setuptools import find_packages, setup

NAME = "iap_physics"

setup(
    name=NAME,
    version="0.5.0",
    description="How it moves: the plant, its engines, rotors, autopilots, drag and wind, and physics_node.",
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
            "physics_node = iap_physics.nodes.physics_node:main",
        ],
    },
)
