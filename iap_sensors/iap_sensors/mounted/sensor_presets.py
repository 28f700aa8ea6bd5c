# SPDX-License-Identifier: BSD-3-Clause
"""Which sensors a vehicle has: presets by name, and the record that they come to."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from iap_description.config import Presets, Record
from iap_description.errors import BadInput
from iap_sensors import ahrs, imu, lidar, magnetometer, uwb
from iap_sensors.ahrs import AttitudeGains
from iap_sensors.cameras import spec as camera_spec
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.imu import ImuSpec
from iap_sensors.lidar import LidarSpec
from iap_sensors.magnetometer import MagnetometerSpec
from iap_sensors.uwb import UwbSpec, anchor_trees

SETS = Presets(Path(__file__).parents[1] / "data" / "sensors", "sensors")
NONE = "none"
Tree = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
_PRESETS: dict[str, Callable[[str], Tree]] = {
    "imu": imu.PRESETS.tree,
    "magnetometer": magnetometer.PRESETS.tree,
    "attitude": ahrs.PRESETS.tree,
    "uwb": uwb.PRESETS.tree,
    "lidar": lidar.PRESETS.tree,
}


class Sensors(Record):
    """The sensors of one vehicle: the same on every aircraft, and an inertial unit on the centre too."""

    imu: ImuSpec | None = None
    magnetometer: MagnetometerSpec | None = None
    attitude: AttitudeGains | None = None  # estimates the orientation in the units' messages
    uwb: UwbSpec | None = None
    cameras: dict[Name, CameraSpec] = {}
    lidar: LidarSpec | None = None


def set_names() -> list[str]:
    """Names of the sets of sensors that ship with the suite."""
    return sorted([NONE, *SETS.names()])


def sensors_tree(given: object, source: str) -> object:
    """The plain tree of what a scenario or the command line asks for.

    Args:
        given: names of sets, separated by commas, or a mapping whose values may be names of presets.
        source: to name in errors.

    Raises:
        BadInput: there is no such set or preset.
    """
    tree: Tree = {**dict.fromkeys(_PRESETS), "cameras": {}}
    for part in _named_sets(given, source) if isinstance(given, str) else [given]:
        if not isinstance(part, dict):
            return part  # which is refused where it is validated
        tree = {**tree, **part, "cameras": _both(tree["cameras"], part.get("cameras", {}))}
    for key, preset in _PRESETS.items():
        tree[key] = _filled_in(tree[key], preset)
    if isinstance(tree["uwb"], dict) and "anchors" in tree["uwb"]:
        tree["uwb"] = {**tree["uwb"], "anchors": anchor_trees(tree["uwb"]["anchors"])}
    return {**tree, "cameras": cameras_tree(tree["cameras"])}


def cameras_tree(given: object) -> object:
    """The plain tree of cameras by name, of which each may name a preset."""
    if not isinstance(given, dict):
        return given
    return {name: _filled_in(each, camera_spec.PRESETS.tree) for name, each in given.items()}


def _named_sets(names: str, source: str) -> list[object]:
    sets: list[object] = []
    for name in names.split(","):
        if name.strip() not in set_names():
            raise BadInput(
                f"{source}: no sensors '{name.strip()}' (choices: {', '.join(set_names())},"
                " or several with commas)"
            )
        sets.append({} if name.strip() == NONE else SETS.tree(name.strip()))
    return sets


def _both(first: object, second: object) -> object:
    both = isinstance(first, dict) and isinstance(second, dict)
    return {**first, **second} if both else second  # type: ignore[dict-item]


def _filled_in(given: object, preset: Callable[[str], Tree]) -> object:
    """A preset by its name, or a mapping on top of the preset that its key `preset` names."""
    if isinstance(given, str):
        return preset(given)
    if isinstance(given, dict) and isinstance(given.get("preset"), str):
        rest = {key: value for key, value in given.items() if key != "preset"}
        return {**preset(given["preset"]), **rest}
    return given
