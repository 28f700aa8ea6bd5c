# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of sensors on aircraft, by their keys under ``sensors``; a user's own kind is keyed ``module:Class``."""

from iap_description.config.plugins import load_class
from iap_sensors.mounted.mounted_sensors import MountedSensors

KINDS = {
    "uwb": "iap_sensors.mounted.uwb:UwbTags",
    "motion_capture": "iap_sensors.mounted.motion_capture:MotionCaptures",
    "barometer": "iap_sensors.mounted.barometer:Barometers",
    "gnss": "iap_sensors.mounted.gnss:Receivers",
    "lidar": "iap_sensors.mounted.lidar:Lidars",
    "depth_camera": "iap_sensors.mounted.depth_camera:DepthCameras",
}
METHODS = ("sample", "reset", "info")


def is_kind(key: object) -> bool:
    """True if a key under ``sensors`` names a kind."""
    return isinstance(key, str) and (key in KINDS or ":" in key)


def kind(key: str) -> type[MountedSensors]:
    """The class of a kind.

    Raises:
        BadInput: there is no such kind, or it is no class of mounted sensors.
    """
    return load_class(key, METHODS, key=f"sensors.{key}", built_in=KINDS)
