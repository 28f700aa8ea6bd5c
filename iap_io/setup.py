# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_io: serialised messages, bags, data sets and run folders."""

from pathlib import Path
from shutil import copy

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

NAME = "iap_io"
VERSION = "0.6.0"
MESSAGES = Path(__file__).resolve().parents[1] / "iap_msgs" / "msg"


class BuildWithMessages(build_py):
    """Puts the definitions of iap_msgs beside the modules, for readers and writers of bags without ROS."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        folder = Path(self.build_lib, NAME, "data", "msg")
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(MESSAGES.glob("*.msg")):
            copy(path, folder)


setup(
    name=NAME,
    version=VERSION,
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
    install_requires=[
        f"iap_description=={VERSION}",
        "lz4>=4.4,<5",
        "matplotlib>=3.10,<4",
        "numba>=0.68,<0.70",  # kernels use its cache and compiler passes, which its releases change
        "numpy>=2.1,<3",  # the first for Python 3.13
        "pydantic>=2.9,<3",  # the first for Python 3.13
        "PyYAML>=6.0.2,<7",  # the first for Python 3.13
        "rosbags>=0.11,<0.12",  # bags are read by what it keeps to itself
        "scipy>=1.14,<2",  # the first for Python 3.13; numba multiplies matrices by it
    ],
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
    cmdclass={"build_py": BuildWithMessages},
)
