# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_simulation: scenarios, the closed loop and its metrics."""

from setuptools import find_packages, setup

NAME = "iap_simulation"

setup(
    name=NAME,
    version="0.5.0",
    description="The simulation: scenario, vehicles, plant, controllers, sensors and estimators in one loop; metrics.",
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
    entry_points={"iap.agents": ["script = iap_simulation.docking.pair_pilot:scripted"]},
)
