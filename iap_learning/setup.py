# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_learning as a ROS 2 package: tasks, environments, policies and their node."""

from setuptools import find_packages, setup

NAME = "iap_learning"

setup(
    name=NAME,
    version="0.5.0",
    description="Learning: tasks as data, and gymnasium environments of one world or many.",
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
        "console_scripts": ["policy_node = iap_learning.nodes.policy_node:main"],
        "iap.agents": ["policy = iap_learning.learned_agents:learned"],
        "iap.guidance": ["policy = iap_learning.learned_agents:learned_guide"],
    },
)
