# SPDX-License-Identifier: BSD-3-Clause
"""From the arguments of a launch file to the parameters of all nodes and to RViz's view; no ROS needed."""

import copy
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from iap_bringup.launching.node_parameters import (
    localization_nodes,
    physics_parameters,
    reference_parameters,
    sensor_nodes,
    sensor_parameters,
    vehicle_nodes,
)
from iap_description.errors import BadInput
from iap_description.sensors.sensor_info import CameraSensorInfo, LidarInfo
from iap_io.runs.run_folder import CONFIG
from iap_io.runs.run_meta import TRUTH
from iap_io.sensor_messages.camera_messages import image_topics
from iap_sensors.mounted.sensor_suite import SensorSuite
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.scenario.scenario import Options, Scenario, resolve, resolve_replay
from iap_simulation.scenario.vehicle_spec import VehicleSpec

IMAGE_DISPLAY, POINTS_DISPLAY = "rviz_default_plugins/Image", "rviz_default_plugins/PointCloud2"
SHOWN = 4  # of the displays of one kind, from the first on
REPLAY = ("topic", "actual_topic", "convention")
CHOICES = ("platform", "gains", "sensors", "scene", "state_source")
PARAMETERS: dict[str, tuple[Any, str]] = {  # of a flight, by name: default, description
    "scenario": ("hover", "Name of a scenario, or the path of a YAML file."),
    "bag": ("", "Bag or CSV whose commands are flown instead of a scenario."),
    "topic": ("", "Topic of the bag's commands; empty: the one whose type and name fit."),
    "actual_topic": ("", "Topic of what the real aircraft did, to compare with; empty: none."),
    "convention": (
        "",
        "Frames of the bag: enu or ned; empty: ned for a pair of Points, else enu.",
    ),
    "platform": ("", "Platform instead of the scenario's."),
    "gains": ("", "Gain preset instead of the scenario's."),
    "sensors": (
        "",
        "Sensors of every vehicle instead of the scenario's, e.g. imu,uwb; none: none.",
    ),
    "scene": ("", "Scene that is flown in instead of the scenario's."),
    "state_source": (
        "",
        "State that controllers use instead of the scenario's: truth, or a method.",
    ),
    "seed": (-1, "Seed of all noise; -1: the scenario's."),
    "duration": (0.0, "Simulated time [s]; 0: the scenario's."),
    "assignments": ([""], "KEY=VALUE for any key of the resolved configuration, as --set."),
}


def flight_parameters(given: Mapping[str, str]) -> dict[str, Any]:
    """Values of `PARAMETERS` from launch arguments, which have `set` for `assignments`.

    Raises:
        BadInput: a number is none.
    """
    out: dict[str, Any] = {"assignments": given["set"].split(";")}
    for name, (default, _) in PARAMETERS.items():
        try:
            out.setdefault(name, type(default)(given.get(name, "")))
        except ValueError as error:
            raise BadInput(f"{name}:={given[name]}: a number is expected") from error
    return out


def localized(given: Mapping[str, str]) -> tuple[Scenario, VehicleSpec]:
    """The scenario of those who localise, and its vehicle, by default the first; a run has its own configuration.

    Raises:
        BadInput: there is no such run or vehicle, or anything of the scenario is unknown.
    """
    flight = {name: default for name, (default, _) in PARAMETERS.items()}
    flight |= {name: given[name] for name in ("scenario", "platform", "sensors", "scene")}
    if given["run"]:
        config = Path(given["run"]) / CONFIG
        if not config.is_file():
            raise BadInput(f"run:={given['run']}: no run folder")
        flight["scenario"] = str(config.resolve())
    scenario, _ = resolve_flight({**flight, "assignments": given["set"].split(";")})
    name, names = given["vehicle"], [vehicle.name for vehicle in scenario.vehicles]
    if name and name not in names:
        raise BadInput(f"vehicle:={name}: {scenario.scenario} has {', '.join(names)}")
    return scenario, scenario.vehicles[names.index(name) if name else 0]


def resolve_flight(flight: Mapping[str, Any]) -> tuple[Scenario, dict[str, Any]]:
    """The scenario that values of `PARAMETERS` stand for, and its plain tree.

    Raises:
        BadInput: anything unknown, missing or impossible.
    """
    options = Options(
        **{name: flight[name] or None for name in (*CHOICES, "duration")},
        seed=None if flight["seed"] < 0 else flight["seed"],
        assignments=tuple(filter(None, flight["assignments"])),
    )
    if not flight["bag"]:
        return resolve(flight["scenario"], options)
    replay = {"path": flight["bag"], **{name: flight[name] or None for name in REPLAY}}
    return resolve_replay(replay, options)


def parameter_file(
    scenario: Scenario,
    flight: Mapping[str, Any],
    given: Mapping[str, str],
    *,
    mount_frames: bool = True,
) -> str:
    """Path of a new file with the parameters of every node of a flight, by the nodes' full names.

    A recorded flight stands until all of its nodes are there, so that none misses its beginning, and
    what its sensors say is sent again where it was lost.

    Args:
        scenario: that is flown.
        flight: its parameters.
        given: the launch arguments.
        mount_frames: whether physics_node publishes the frames of mounts.
    """
    stands = given["record"] == given["reference"] == "true"
    physics = {"pace": given["pace"], "start_paused": stands, "mount_frames": mount_frames}
    tree = {
        "/physics_node": {**physics_parameters(scenario), **physics},
        "/recorder": {**flight, "out": given["out"], "end_pause": stands},
    }
    localizing = localizers(scenario, given)
    is_reliable = given["record"] == "true" or bool(localizing)
    for name in sensor_nodes(scenario):
        tree[f"/{name}"] = {**sensor_parameters(scenario), "reliable": is_reliable}
    for name, space, own in localizing:
        tree[f"/{space}/{name}"] = {**own, "reliable": True}
    for vehicle in scenario.vehicles:
        for name, parameters in vehicle_nodes(scenario, vehicle).items():
            tree[f"/{vehicle.name}/{name}"] = parameters
        if flight["bag"]:
            tree[f"/{vehicle.name}/bag_player"] = dict(flight)
        else:
            tree[f"/{vehicle.name}/reference_node"] = reference_parameters(scenario, vehicle)
    return _written(
        {name: {"ros__parameters": values} for name, values in tree.items()}, "parameters.yaml"
    )


def localizers(
    scenario: Scenario, given: Mapping[str, str]
) -> list[tuple[str, str, dict[str, Any]]]:
    """The nodes that localise vehicles by what these go by, or by what is asked for: see `localization_nodes`."""
    out = []
    for vehicle in scenario.vehicles:
        source = vehicle.control.state_source
        method = given.get("localization", "") if source == TRUTH else source
        out += localization_nodes(scenario, vehicle, method, given["pace"]) if method else []
    return [(name, space.strip("/"), own) for name, space, own in out]


def view_file(template: Path, scenario: Scenario) -> str:
    """Path of a new RViz configuration: the template's, with its displays of `iap` once for each vehicle.

    Its displays of an image and of points come once for each camera and each lidar that there is.
    """
    view = yaml.safe_load(template.read_text(encoding="utf-8"))
    shown, names = view["Visualization Manager"], [vehicle.name for vehicle in scenario.vehicles]
    topics = _seen_topics(scenario)
    shown["Displays"] = [
        copied
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
    return _written(view, "view.rviz")


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


def _is_own(display: object) -> bool:
    """Whether a display names the vehicle."""
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


def _written(tree: object, name: str) -> str:
    path = Path(tempfile.mkdtemp(prefix="iap_launch_")) / name
    plain = json.loads(json.dumps(tree))  # no object twice: ROS's files may not have aliases
    path.write_text(yaml.safe_dump(plain, sort_keys=False), encoding="utf-8")
    return str(path)
