# SPDX-License-Identifier: BSD-3-Clause
"""The sensors of a vehicle: presets by name, and the record that they come to."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, model_validator

from iap_description.config.alternatives import alternatives
from iap_description.config.record import Presets, Record
from iap_description.errors import BadInput
from iap_sensors.cameras import spec as camera_spec
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.inertial import ahrs, imu, magnetometer
from iap_sensors.inertial.ahrs import AttitudeGains
from iap_sensors.inertial.imu import ImuSpec
from iap_sensors.inertial.magnetometer import MagnetometerSpec
from iap_sensors.mounted.kinds import is_kind, kind
from iap_sensors.mounted.motion_capture import KEY as MOTION_CAPTURE
from iap_sensors.mounted.motion_capture import MotionCaptureSpec
from iap_sensors.mounted.uwb import UwbSpec, anchor_trees
from iap_sensors.rays import depth_camera_spec
from iap_sensors.rays.depth_camera_spec import DEPTH_CAMERA, DepthCameraSpec
from iap_sensors.rays.lidar_spec import LidarSpec

SETS = Presets(Path(__file__).parents[1] / "data" / "sensors", "sensors")
NONE = "none"
Tree = dict[str, Any]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
_PRESETS: dict[str, Callable[[str], Tree]] = {
    "imu": imu.PRESETS.tree,
    "magnetometer": magnetometer.PRESETS.tree,
    "attitude": ahrs.PRESETS.tree,
    DEPTH_CAMERA: depth_camera_spec.PRESETS.tree,
}


class SensorsSpec(Record):
    """The sensors of one vehicle: the same on every aircraft, and an inertial unit on the centre too.

    Further keys are those of other kinds, see `iap_sensors.mounted.kinds`.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    imu: ImuSpec | None = None
    magnetometer: MagnetometerSpec | None = None
    attitude: AttitudeGains | None = None  # estimates the orientation in the units' messages
    uwb: UwbSpec | None = None
    cameras: dict[Name, CameraSpec] = {}
    motion_capture: MotionCaptureSpec | None = None
    lidar: LidarSpec | None = None
    depth_camera: DepthCameraSpec | None = None  # by rays

    @model_validator(mode="before")
    @classmethod
    def _other_kinds(cls, tree: object) -> object:
        """Check what is of no kind above against the record of its own."""
        if not isinstance(tree, dict):
            return tree
        others = [key for key in tree if key not in cls.model_fields]
        return {**tree, **{key: _checked(key, tree[key]) for key in others}}

    @property
    def mounted(self) -> dict[str, Any]:
        """The records of the kinds in `iap_sensors.mounted.kinds`, without those that there are none of."""
        specs = {
            "uwb": self.uwb,
            MOTION_CAPTURE: self.motion_capture,
            "lidar": self.lidar,
            DEPTH_CAMERA: self.depth_camera,
        }
        all_specs = {**specs, **(self.model_extra or {})}
        return {key: spec for key, spec in all_specs.items() if spec is not None}

    @property
    def topics(self) -> list[str]:
        """Last parts of the topics of all that there are, without those of an image."""
        specs = {"imu": self.imu, "mag": self.magnetometer}
        names = [name for name, spec in specs.items() if spec is not None]
        return [*names, *(kind(key).KEY for key in self.mounted), *self.cameras]


def _checked(key: str, value: object) -> Record | None:
    """The record of a kind that is named by a key, None where there is no such sensor."""
    if not is_kind(key):
        raise _faults([{"type": "extra_forbidden", "loc": (key,), "input": value}])
    if value is None:
        return None
    try:
        return kind(key).SPEC.model_validate(value)
    except ValidationError as error:
        raise _faults(
            [{**each, "loc": (key, *each["loc"])} for each in error.errors(include_url=False)]
        ) from error


def _faults(faults: Sequence[Any]) -> ValidationError:
    return ValidationError.from_exception_data("sensors", list(faults))


def set_names() -> list[str]:
    """Names of the sets of sensors that ship with the suite."""
    return sorted([NONE, *SETS.names()])


def sensors_tree(asked: object, source: str) -> object:
    """The plain tree of what a scenario or the command line asks for.

    Args:
        asked: names of sets, separated by commas, or a mapping whose values may be names of presets.
        source: to name in errors.

    Raises:
        BadInput: there is no such set or preset.
    """
    tree: Tree = {**dict.fromkeys([*_PRESETS, "uwb", MOTION_CAPTURE, "lidar"]), "cameras": {}}
    for part in _named_sets(asked, source) if isinstance(asked, str) else [asked]:
        if not isinstance(part, dict):
            return part  # which is refused where it is validated
        tree = {**tree, **part, "cameras": _both(tree["cameras"], part.get("cameras", {}))}
    for key in tree:
        if key in _PRESETS or is_kind(key):
            tree[key] = _filled_in(tree[key], _PRESETS.get(key) or kind(key).preset)
    if isinstance(tree["uwb"], dict) and "anchors" in tree["uwb"]:
        tree["uwb"] = {**tree["uwb"], "anchors": anchor_trees(tree["uwb"]["anchors"])}
    return {**tree, "cameras": cameras_tree(tree["cameras"])}


def cameras_tree(cameras: object) -> object:
    """The plain tree of cameras by name, of which each may name a preset."""
    if not isinstance(cameras, dict):
        return cameras
    return {name: _camera_tree(each) for name, each in cameras.items()}


def _camera_tree(entry: object) -> object:
    """The plain tree of a camera; its effects are on top of those of its preset, and null switches one off."""
    filled = _filled_in(entry, camera_spec.PRESETS.tree)
    if isinstance(entry, dict) and isinstance(entry.get("preset"), str):
        asked, preset = entry.get("effects"), camera_spec.PRESETS.tree(entry["preset"])["effects"]
        if isinstance(asked, dict) and isinstance(preset, dict) and isinstance(filled, dict):
            return {**filled, "effects": {**preset, **asked}}
    return filled


def _named_sets(names: str, source: str) -> list[object]:
    sets: list[object] = []
    for name in names.split(","):
        if name.strip() not in set_names():
            raise BadInput(
                f"{source}: no sensors '{name.strip()}': {alternatives(name.strip(), set_names())}"
                " (or several with commas)"
            )
        sets.append({} if name.strip() == NONE else SETS.tree(name.strip()))
    return sets


def _both(first: object, second: object) -> object:
    both = isinstance(first, dict) and isinstance(second, dict)
    return {**first, **second} if both else second  # type: ignore[dict-item]


def _filled_in(entry: object, preset: Callable[[str], Tree]) -> object:
    """A preset by its name, or a mapping on top of the preset that its key `preset` names."""
    if isinstance(entry, str):
        return preset(entry)
    if isinstance(entry, dict) and isinstance(entry.get("preset"), str):
        rest = {key: value for key, value in entry.items() if key != "preset"}
        return {**preset(entry["preset"]), **rest}
    return entry
