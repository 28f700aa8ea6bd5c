# SPDX-License-Identifier: BSD-3-Clause
"""Install iap_simulation: scenarios, the closed loop and its metrics."""

from setuptools import find_packages, setup

NAME = "iap_simulation"
VERSION = "0.6.0"

setup(
    name=NAME,
    version=VERSION,
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
    install_requires=[
        f"iap_control=={VERSION}",
        f"iap_description=={VERSION}",
        f"iap_estimation=={VERSION}",
        f"iap_io=={VERSION}",
        f"iap_physics=={VERSION}",
        f"iap_sensors=={VERSION}",
        "numba>=0.68,<0.70",  # kernels use its cache and compiler passes, which its releases change
        "numpy>=2.1,<3",  # the first for Python 3.13
        "pillow>=11,<14",
        "pydantic>=2.9,<3",  # the first for Python 3.13
        "PyYAML>=6.0.2,<7",  # the first for Python 3.13
        "scipy>=1.14,<2",  # the first for Python 3.13; numba multiplies matrices by it
    ],
    python_requires=">=3.11,<3.15",
    license_files=["LICENSE"],
    zip_safe=False,
    entry_points={"iap.agents": ["script = iap_simulation.docking.pair_pilot:scripted"]},
)
