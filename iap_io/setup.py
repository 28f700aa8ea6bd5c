# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_io: serialised messages, bags, data sets and run folders."""

from setuptools import find_packages, setup

NAME = "iap_io"

setup(
    name=NAME,
    version="0.5.0",
    description="Bytes: serialised messages, bags, data sets, trajectories and run folders; the base of ROS nodes.",
    author="IAP simulation suite contributors",
    maintainer="IAP simulation suite contributors",
    maintainer_email="maintainers@example.org",
    license="BSD-3-Clause",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
)
