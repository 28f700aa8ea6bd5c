# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_description; URDF and meshes also go where RViz looks for them."""

from glob import glob

from setuptools import find_packages, setup

NAME = "iap_description"

setup(
    name=NAME,
    version="0.5.0",
    description="What there is: platforms, aircraft, world, frames, states and URDF.",
    author="IAP simulation suite contributors",
    maintainer="IAP simulation suite contributors",
    maintainer_email="maintainers@example.org",
    license="BSD-3-Clause",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["data/**/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/urdf", sorted(glob("iap_description/data/urdf/*"))),
        (f"share/{NAME}/meshes", sorted(glob("iap_description/data/meshes/*"))),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
)
