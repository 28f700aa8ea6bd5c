# SPDX-License-Identifier: BSD-3-Clause
"""Platforms whose aircraft or joints differ, or whose joints resist or sit off the aircraft's CoM."""

import copy
from typing import Any

from iap_description.config.record import validate
from iap_description.vehicles.platform import Platform, platform_tree


def heavier(aircraft: dict[str, Any]) -> dict[str, Any]:
    """The tree of an aircraft of 2.4 kg with wider arms and stronger rotors."""
    tree = copy.deepcopy(aircraft)
    tree |= {"name": "heavier", "mass": 2.4, "inertia": [0.035, 0.035, 0.066]}
    tree["rotor"]["thrust_coefficient"] *= 1.5
    for rotor in tree["rotors"]:
        x, y, z = rotor["position"]
        rotor["position"] = [1.2 * x, 1.2 * y, z]
    return tree


def various(
    *, heavy: int | None = None, fixed: tuple[int, ...] = (), **joint: Any
) -> dict[str, Any]:
    """The tree of a three_star with one heavier aircraft, some fixed ones, and keys of all its joints."""
    tree = copy.deepcopy(platform_tree("three_star")[0])
    for number, each in enumerate(tree["joints"]):
        each |= joint | ({"type": "fixed"} if number in fixed else {})
        if number == heavy:
            each["aircraft"] = heavier(tree["aircraft"])
    return tree


def platform_of(tree: dict[str, Any]) -> Platform:
    """The checked platform of a tree."""
    return validate(Platform, tree, source="test")
