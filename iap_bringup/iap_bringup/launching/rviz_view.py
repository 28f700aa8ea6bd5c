# SPDX-License-Identifier: BSD-3-Clause
"""RViz's view of a scenario, made of the one of a vehicle `iap`."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from iap_description.sensors.sensor_info import CameraSensorInfo, LidarInfo
from iap_io.sensor_messages.camera_messages import image_topics
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Scenario

IMAGE_DISPLAY, POINTS_DISPLAY = "rviz_default_plugins/Image", "rviz_default_plugins/PointCloud2"
SHOWN = 4  # of the displays of one kind, from the first on


def view_text(template: Path, scenario: Scenario, namespace: str = "") -> str:
    """An RViz configuration: the template's, with its displays of `iap` once for each vehicle.

    Its displays of an image and of points come once for each camera and each lidar that there is.

    Args:
        template: the view of one vehicle `iap`.
        scenario: that is shown.
        namespace: of the simulation, such as ``/sim_1``; empty at the root.
    """
    view = yaml.safe_load(template.read_text(encoding="utf-8"))
    shown, names = view["Visualization Manager"], [vehicle.name for vehicle in scenario.vehicles]
    topics = _seen_topics(scenario)
    shown["Displays"] = [
        _within(namespace, copied)
        for display in shown["Displays"]
        for copied in (
            _of_topics(display, topics[display["Class"]])
            if display["Class"] in topics
            else [_renamed(display, n) for n in names]
            if _is_own(display)
            else [display]
        )
    ]
    shown["Views"] = _renamed(shown["Views"], names[0])
    return yaml.safe_dump(view, sort_keys=False)


def _seen_topics(scenario: Scenario) -> dict[str, list[str]]:
    """Topics of images and of points, by the kind of display that shows them."""
    infos = SensorSuite(rig_spec(scenario)).infos
    images = [
        t for m in infos if isinstance(m, CameraSensorInfo) for t in image_topics(m).values()
    ]
    points = [f"{m.topic}/points" for m in infos if isinstance(m, LidarInfo)]
    return {IMAGE_DISPLAY: images, POINTS_DISPLAY: points}


def _of_topics(display: dict[str, Any], topics: Sequence[str]) -> list[dict[str, Any]]:
    """A display for each topic; only the first ones are on, since every image takes a window."""
    return [
        {
            **display,
            "Name": topic.removeprefix("/"),
            "Topic": {**display["Topic"], "Value": topic},
            **dict.fromkeys(("Enabled", "Value"), i < SHOWN),
        }
        for i, topic in enumerate(topics)
    ]


def _within(namespace: str, display: dict[str, Any]) -> dict[str, Any]:
    """A display with its topics in the simulation's namespace."""
    return {
        key: {**value, "Value": f"{namespace}{value['Value']}"} if key.endswith("Topic") else value
        for key, value in display.items()
    }


def _is_own(display: object) -> bool:
    """True if a display names the vehicle."""
    return _renamed(display, "") != display


def _renamed(tree: Any, name: str) -> Any:  # noqa: ANN401 - YAML
    """A tree with the vehicle `iap` replaced in topics, frames and the TF prefix."""
    if isinstance(tree, dict):
        return {_renamed(key, name): _renamed(value, name) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_renamed(value, name) for value in tree]
    if tree == "iap":
        return name
    return tree.replace("iap/", f"{name}/") if isinstance(tree, str) else copy.copy(tree)
