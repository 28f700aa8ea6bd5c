# SPDX-License-Identifier: BSD-3-Clause
"""Keys and values of scenarios that have new names: the old ones are read for one version more, with a warning."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iap_description.config.plain_yaml import parse_yaml, read_yaml
from iap_description.config.record import merged, override
from iap_description.errors import RenamedKey
from iap_description.vehicles.arm import ARMS
from iap_description.vehicles.platform import platform_tree
from iap_physics.identified.plant_file import PLANTS

KEYS = {"gripper.told": "gripper.known_load"}  # old path -> new path
VALUES = {  # path -> old value -> new value
    "control.yaw": {"given": "reference"},
    "arm.motion.type": {"given": "external"},
}
VEHICLES = "vehicles"
SHIPPED = Path(__file__).parents[1] / "data" / "scenarios"
MULTIBODY = "multibody"  # as the plant: bodies
LAW = ("task", "slope", "speed", "weights", "centring", "singular")


def _turn(yaw_deg: object) -> object:
    return [0.0, 0.0, yaw_deg]


def _from(start: object) -> object:
    return [start, 1e9]  # to the flight's end


def _same(value: object) -> object:
    return value


MOVED: dict[str, tuple[str, Callable[[object], object]]] = {  # old path -> new path, new value
    "noise": ("plant.noise", _same),
    "path": ("arm.motion.path", _same),
    **{f"control.{key}": (f"arm.motion.control.{key}", _same) for key in LAW},
    "control.static_inverse": ("plant.static_inverse", _same),
    "start.position": ("reference.position", _same),
    "start.yaw_deg": ("reference.rpy_deg", _turn),
    "draw.yaw_deg": ("draw.attitude_deg", _turn),
    "rates.plant_hz": ("rates.physics_hz", _same),
    "metrics.settle": ("metrics.window", _from),
}


def assigned(tree: dict[str, Any], assignment: str) -> dict[str, Any]:
    """A tree after an assignment ``dotted.path=YAML value``, by a present path or by an old one.

    Raises:
        BadInput: see `iap_description.config.record.override`.
    """
    renamed = _chosen_by_name(tree, assignment)
    if renamed is not None:
        return renamed
    assignment = _moved_assignment(assignment)
    path, equals, value = assignment.partition("=")
    new = KEYS.get(path)
    if new is not None:
        _warn(f"key '{path}'", f"'{new}'")
    return override(tree, [f"{new or path}{equals}{value}"])


def present_path(path: str) -> str:
    """The present path of a key that is named by it or by an old one."""
    renamed = {**KEYS, **{old: new for old, (new, _) in MOVED.items()}}
    old = next((key for key in renamed if f"{path}.".startswith(f"{key}.")), None)
    return path if old is None else f"{renamed[old]}{path.removeprefix(old)}"


def with_new_names(tree: dict[str, Any]) -> dict[str, Any]:
    """A scenario's plain tree under present names; also those of its vehicles, where it lists several."""
    out = _with_moved_keys(tree)
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


def _moved_assignment(assignment: str) -> str:
    """An assignment ``dotted.path=YAML value`` with the present path and value of an old key."""
    path, equals, text = assignment.partition("=")
    old = next((key for key in MOVED if f"{path}.".startswith(f"{key}.")), None)
    if old is None or not equals:
        return assignment
    new, change = MOVED[old]
    _warn(f"key '{old}'", f"'{new}'")
    if path != old or change is _same:
        return f"{new}{path.removeprefix(old)}={text}"
    return f"{new}={json.dumps(change(parse_yaml(text, source=f'--set {assignment}')))}"


def _chosen_by_name(tree: dict[str, Any], assignment: str) -> dict[str, Any] | None:
    """A tree whose plant or arm an assignment names as in the version before; None of other assignments."""
    path, _, text = assignment.partition("=")
    if path not in ("plant", "arm"):
        return None
    name = parse_yaml(text, source=f"--set {assignment}")
    if not isinstance(name, str):
        return None
    return _with_plant(tree, name) if path == "plant" else _with_arm(tree, name)


def _with_moved_keys(tree: dict[str, Any]) -> dict[str, Any]:
    """A scenario's plain tree with old keys at their present places."""
    plant, arm = tree.get("plant"), tree.get("arm")
    names = {
        key: value for key, value in (("plant", plant), ("arm", arm)) if isinstance(value, str)
    }
    out = {key: value for key, value in tree.items() if key not in names}
    if names:
        out = merged(_without_others("arm_path"), out)
    for old, (new, change) in MOVED.items():
        *parents, last = old.split(".")
        home = out if not parents else out.get(parents[0])
        if isinstance(home, dict) and last in home:
            _warn(f"key '{old}'", f"'{new}'")
            value = change(home[last])
            kept = {key: each for key, each in home.items() if key != last}
            out = {**out, parents[0]: kept} if parents else kept
            out = merged(out, _nested(new.split("."), value))
    if "arm" in names:
        out = _with_arm(out, names["arm"])
    return _with_plant(out, names["plant"]) if "plant" in names else out


def _nested(parts: list[str], value: object) -> dict[str, Any]:
    return {parts[0]: value if len(parts) == 1 else _nested(parts[1:], value)}


def _without_others(name: str) -> dict[str, Any]:
    """A shipped scenario's tree without the flights beside it."""
    return {
        key: value
        for key, value in read_yaml(SHIPPED / f"{name}.yaml").items()
        if key != "compare"
    }


def _with_plant(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """A tree whose plant is an identified one by its name, or bodies."""
    if name != MULTIBODY:
        PLANTS.file_or_path(name)  # a wrong name is said before what the scenario misses
        _warn(f"key 'plant': '{name}'", "'plant.file'")
        return merged(tree, {"plant": {"type": "identified", "file": name}})
    _warn(f"key 'plant': '{name}'", "scenario 'arm_path_bodies'")
    bodies = read_yaml(SHIPPED / "arm_path_bodies.yaml")
    control = {**tree.get("control", {}), "law": "auto"}
    rates = {"physics_hz": 1000.0, "control_hz": 200.0}
    motion_tree = tree["arm"]["motion"]
    motion = {
        **bodies["arm"]["motion"],
        "path": motion_tree["path"],
        "control": motion_tree["control"],
    }
    out = merged(tree, {"rates": rates, "control": control})
    out["arm"] = {**tree["arm"], "motion": motion}
    return {**out, "plant": {"type": "bodies"}, "compare": bodies["compare"]}


def _with_arm(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """A tree whose platform has an arm by its name."""
    _warn("key 'arm' with a name", "'platform.arm'")
    platform = tree["platform"]
    if isinstance(platform, str):
        platform, _ = platform_tree(platform)
    return {**tree, "platform": {**platform, "arm": read_yaml(ARMS.file_or_path(name))}}


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is now called {new}; the old name is read until the next version",
        RenamedKey,
        stacklevel=2,
    )
