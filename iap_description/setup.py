# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_description; meshes also go where RViz looks for them."""

from glob import glob

from setuptools import find_packages, setup

NAME = "iap_description"
VERSION = "0.6.0"

setup(
    name=NAME,
    version=VERSION,
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
        (f"share/{NAME}/meshes", sorted(glob("iap_description/data/meshes/*"))),
    ],
    install_requires=[
        "numba>=0.68,<0.70",  # kernels use its cache and compiler passes, which its releases change
        "numpy>=2.1,<3",  # the first for Python 3.13
        "pillow>=11,<14",
        "pydantic>=2.9,<3",  # the first for Python 3.13
        "PyYAML>=6.0.2,<7",  # the first for Python 3.13
        "transforms3d>=0.4.2,<0.5",  # the first for NumPy 2
        "trimesh>=4.5,<6",
    ],
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
)
