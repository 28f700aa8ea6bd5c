# SPDX-License-Identifier: BSD-3-Clause
"""Serial chains, and poses to take them at."""

from collections.abc import Iterator

import numpy as np

from iap_description.arrays import Array
from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.vehicles.arm import Arm, load_arm
from iap_description.vehicles.serial_chain import Chain

Pose = tuple[Array, Array, Array]


def some_poses(n: int, count: int = 20, seed: int = 3) -> Iterator[Pose]:
    """Places and attitudes of a platform, and coordinates of n joints."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.normal(size=3), so3.exp(rng.normal(size=3)), rng.uniform(-2.0, 2.0, n)


def odd_chain() -> Chain:
    """Revolute and prismatic joints about skew axes, off each other."""
    m100 = load_arm("m100").model_dump()
    turns = [(10.0, -20.0, 30.0), (0.0, 40.0, 0.0), (-15.0, 5.0, 70.0), (0.0, 0.0, 0.0)]
    axes = [(0.0, 0.6, 0.8), (1.0, 0.0, 0.0), (1.0, 2.0, -2.0), (0.0, 1.0, 1.0)]
    joints = [
        {
            **m100["joints"][0],
            "name": f"q{i}",
            "type": "prismatic" if i == 1 else "revolute",
            "axis": axis,
            "rpy_deg": turn,
            "origin": (0.1 * i, 0.2, -0.3),
        }
        for i, (axis, turn) in enumerate(zip(axes, turns, strict=True))
    ]
    bare = {"links": (), "motors": (), "home": (), "joints": joints}
    tree = {**m100, **bare, "base": (0.3, 0.1, -0.2), "tip": (0.2, -0.1, 0.4)}
    return validate(Arm, tree, source="test").chain()


CHAINS = {"m100": load_arm("m100").chain(), "odd": odd_chain()}
