# SPDX-License-Identifier: BSD-3-Clause
"""Keys and values of scenarios that have new names: the old ones are read for one version more, with a warning."""

import warnings
from typing import Any

from iap_description.config.record import override
from iap_description.errors import RenamedKey
from iap_simulation.scenario.arm_keys import chosen_by_name, moved_assignment, with_moved_keys

KEYS = {"gripper.told": "gripper.known_load"}  # old path -> new path
VALUES = {  # path -> old value -> new value
    "control.yaw": {"given": "reference"},
    "arm.motion.type": {"given": "external"},
}
VEHICLES = "vehicles"


def assigned(tree: dict[str, Any], assignment: str) -> dict[str, Any]:
    """A tree after an assignment ``dotted.path=YAML value``, by a present path or by an old one.

    Raises:
        BadInput: see `iap_description.config.record.override`.
    """
    chosen = chosen_by_name(tree, assignment, _warn)
    if chosen is not None:
        return chosen
    assignment = moved_assignment(assignment, _warn)
    path, equals, value = assignment.partition("=")
    new = KEYS.get(path)
    if new is not None:
        _warn(f"key '{path}'", f"'{new}'")
    return override(tree, [f"{new or path}{equals}{value}"])


def with_new_names(tree: dict[str, Any]) -> dict[str, Any]:
    """A scenario's plain tree under present names; also those of its vehicles, where it lists several."""
    out = with_moved_keys(tree, _warn)
    for old, new in KEYS.items():
        out = _with_new_key(out, old.split("."), old, new)
    for path, values in VALUES.items():
        out = _with_new_value(out, path.split("."), path, values)
    vehicles = out.get(VEHICLES)
    if isinstance(vehicles, list):
        out[VEHICLES] = [with_new_names(v) if isinstance(v, dict) else v for v in vehicles]
    return out


def _with_new_key(tree: dict[str, Any], parts: list[str], old: str, new: str) -> dict[str, Any]:
    """A tree in which the last part of a path has its new name, in the same place."""
    first, *rest = parts
    if first not in tree:
        return tree
    if not rest:
        _warn(f"key '{old}'", f"'{new}'")
        return {new.rpartition(".")[2] if k == first else k: v for k, v in tree.items()}
    if not isinstance(tree[first], dict):
        return tree
    return {**tree, first: _with_new_key(tree[first], rest, old, new)}


def _with_new_value(
    tree: dict[str, Any], parts: list[str], path: str, values: dict[str, str]
) -> dict[str, Any]:
    """A tree in which an old value at the end of a path is replaced by the new one."""
    first, *rest = parts
    value = tree.get(first)
    if rest:
        return (
            {**tree, first: _with_new_value(value, rest, path, values)}
            if isinstance(value, dict)
            else tree
        )
    if not isinstance(value, str) or value not in values:
        return tree
    _warn(f"key '{path}': '{value}'", f"'{values[value]}'")
    return {**tree, first: values[value]}


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is now called {new}; the old name is read until the next version",
        RenamedKey,
        stacklevel=2,
    )
