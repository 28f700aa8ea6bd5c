# SPDX-License-Identifier: BSD-3-Clause
"""Modules for tests: chains of joints, settings, and what modules tell their coordinator."""

from typing import Any

import numpy as np

from iap_control.modules.bearing import Lift
from iap_control.modules.exchange import ModuleReports
from iap_control.modules.settings import ModulesSpec, modules_tree
from iap_control.modules.structure import ModuleJoint
from iap_description.arrays import Array
from iap_description.config.record import validate

SIZE = 0.52
WEIGHT, ARM = 45.0, 0.134  # of a module [N], of its rotors along x and y [m]
STIFFNESS = (46.0, 46.0, 36.0)  # of its law [N/m]


def lift(count: int) -> Lift:
    """Share of equal modules with four rotors each."""
    rotors = [(ARM, ARM), (-ARM, ARM), (-ARM, -ARM), (ARM, -ARM)]
    return Lift.of([WEIGHT] * count, [rotors] * count, [STIFFNESS] * count)


def chain(count: int) -> dict[str, ModuleJoint]:
    """Joints of a chain along x."""
    return {f"j{i + 1}": ModuleJoint(i, i + 1, (SIZE, 0.0, 0.0)) for i in range(count - 1)}


def square() -> dict[str, ModuleJoint]:
    """Four modules, all neighbours joined: a closed loop."""
    x, y = (SIZE, 0.0, 0.0), (0.0, SIZE, 0.0)
    return {
        "a": ModuleJoint(0, 1, x),
        "b": ModuleJoint(0, 2, y),
        "c": ModuleJoint(1, 3, y),
        "d": ModuleJoint(2, 3, x),
    }


def spec_of(joints: dict[str, Any], mission: list[Any] | None = None, **keys: Any) -> ModulesSpec:
    """Settings of the preset `beatle` with these joints, mission and other keys."""
    tree = {"preset": "beatle", "joints": joints, "mission": mission or [], **keys}
    return validate(ModulesSpec, modules_tree(tree, "test"), source="test")


def told(t: float, places: Array, **others: Any) -> ModuleReports:
    """Statuses of modules at rest at places (n, 3), with their references there."""
    rows = np.zeros((len(places), 20))
    rows[:, :3], rows[:, 6] = places, 1.0
    fields = {
        "estimates": rows[:, :13].copy(),
        "shared": rows[:, :13].copy(),
        "external_P": np.zeros((len(places), 6)),
        "nominal": rows,
        "command_times": np.full(len(places), t),
        "joint_S": {},
    }
    return ModuleReports(t, **{**fields, **others})
