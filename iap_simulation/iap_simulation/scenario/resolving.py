# SPDX-License-Identifier: BSD-3-Clause
"""Resolution of a scenario's name or file and the command line's options to one checked `Scenario`."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, merged, validate
from iap_description.errors import BadInput
from iap_description.scenes.library import absolute
from iap_description.world.obstacles import objects_tree
from iap_physics.engines.make import AUTO, default_engine
from iap_physics.firmware.settings import firmware_tree
from iap_sensors.mounted.sensor_presets import cameras_tree, sensors_tree
from iap_simulation.scenario.modules import with_modules
from iap_simulation.scenario.renamed_keys import assigned, present_path, with_new_names
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.shipped import DATA
from iap_simulation.scenario.shipped import SCENARIOS as SCENARIOS
from iap_simulation.scenario.vehicle_spec import VEHICLE_KEYS
from iap_simulation.scenario.vehicle_trees import (
    as_list,
    begin_with_joints,
    expand_names,
    mapping_of,
    vehicles_of,
)

PATHS = {  # of options, the keys that they set
    "engine": "engine.name",
    "scene": "world.scene",
    "seed": "seed",
    "duration": "duration",
    "sensors": "sensors",
    "gains": "control.gains",
    "platform": "platform",
    "state_source": "control.state_source",
}


EXPANDED = ("platform", "gains", "sensors", "state_source")  # options of each vehicle


class Options(Record):
    """Options of the command line; None leaves the scenario's own.

    Attributes:
        assignments: of ``--set``.
        words: what was typed for other keys, by their paths, to be named where these are refused.
    """

    platform: str | None = None
    engine: str | None = None
    gains: str | None = None
    seed: int | None = None
    duration: float | None = None
    sensors: str | None = None
    scene: str | None = None
    state_source: str | None = None
    assignments: tuple[str, ...] = ()
    words: dict[str, str] = {}

    @property
    def typed(self) -> dict[str, str]:
        """Options as they were typed, by the paths of the keys that they set."""
        chosen = {path: getattr(self, name) for name, path in PATHS.items()}
        options = {
            path: f"--{name.replace('_', '-')} {chosen[path]}"
            for name, path in PATHS.items()
            if chosen[path] is not None
        }
        options |= self.words
        return options | {
            present_path(each.partition("=")[0]): f"--set {each}" for each in self.assignments
        }

    def and_set(self, assignments: tuple[str, ...]) -> Self:
        """The same with more assignments."""
        return self.model_copy(update={"assignments": (*self.assignments, *assignments)})


def resolve(name: str, options: Options) -> tuple[Scenario, dict[str, Any]]:
    """Resolve a scenario by name or path; also returns the plain tree that a run's folder keeps.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    path = SCENARIOS.file_or_path(name)
    try:
        return resolve_tree(path.stem, SCENARIOS.extended(path), str(path), options)
    except BadInput as error:
        is_of_file = str(error).startswith(f"{path}: missing key")
        if is_of_file and "extends" not in read_yaml(path):
            hint = "(key 'extends: NAME' takes all that is left out from another scenario)"
            raise BadInput(f"{error} {hint}") from error
        raise


def resolved(
    scenario: str | Path | Mapping[str, Any] | Scenario,
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[Scenario, dict[str, Any]]:
    """The resolved scenario of `Simulation.of`'s arguments, and its plain tree.

    Raises:
        BadInput: anything unknown, missing or impossible, in one line.
    """
    if isinstance(scenario, Scenario):
        if settings or options:
            raise BadInput(
                "a resolved scenario takes no settings or options: resolve it with them"
            )
        return scenario, scenario.model_dump(mode="json")
    unknown = set(options) - set(Options.model_fields)
    if unknown:
        raise BadInput(
            f"unknown option '{min(unknown)}' (known: {', '.join(Options.model_fields)})"
        )
    sets = tuple(f"{path}={json.dumps(value)}" for path, value in settings.items())
    choices = validate(Options, dict(options), source="options").and_set(sets)
    if isinstance(scenario, Mapping):
        return resolve_tree("scenario", dict(scenario), "scenario", choices)
    return resolve(str(scenario), choices)


def resolve_tree(
    name: str, tree: dict[str, Any], source: str, options: Options
) -> tuple[Scenario, dict[str, Any]]:
    """Resolve a scenario's plain tree; `source` names it in errors."""
    tree = {"scenario": _file_name(name), **_with_defaults(with_new_names(tree), source)}
    for vehicle in vehicles_of(tree, source):
        expand_names(vehicle, source, **options.model_dump(include=set(EXPANDED)))
    for key in ("seed", "duration"):
        if getattr(options, key) is not None:
            tree[key] = getattr(options, key)
    if options.engine is not None:
        tree["engine"] = {**mapping_of(tree, "engine", source), "name": options.engine}
    if options.scene is not None:
        tree["world"] = {**mapping_of(tree, "world", source), "scene": options.scene}
    tree = _with_presets(tree, source if options.sensors is None else options.typed["sensors"])
    for assignment in options.assignments:  # a preset's name, perhaps, and then a key of it
        tree = assigned(tree, assignment)
        tree = _with_presets(with_new_names(tree), f"--set {assignment}")
    engine = tree.get("engine")
    if isinstance(engine, dict) and engine.get("name") == AUTO:
        tree["engine"] = {**engine, "name": default_engine()}
    return scenario_of(tree, source, options.typed), tree


def _with_defaults(tree: dict[str, Any], source: str) -> dict[str, Any]:
    """Fill in what the scenario leaves out; nested mappings are merged key by key."""
    defaults = read_yaml(DATA / "defaults.yaml")
    vehicle_defaults = {key: defaults[key] for key in VEHICLE_KEYS if key in defaults}
    if "vehicles" not in tree:
        return merged(defaults, tree)
    shared = {key: value for key, value in defaults.items() if key not in VEHICLE_KEYS}
    vehicles = [merged(vehicle_defaults, vehicle) for vehicle in vehicles_of(tree, source)]
    return {
        **merged(shared, {k: v for k, v in tree.items() if k != "vehicles"}),
        "vehicles": vehicles,
    }


def _file_name(text: str) -> str:
    """A file's name as the name of a run, see `iap_description.config.values.FileName`."""
    return re.sub(r"^\W|[^\w .,+=@()~-]", "_", text)[:100]


def _with_presets(tree: dict[str, Any], source: str) -> dict[str, Any]:
    """Write out the sensors, cameras and obstacles that are given by names of presets."""
    out = with_modules({**tree, "cameras": cameras_tree(tree.get("cameras"))}, source)
    world = tree.get("world")
    if isinstance(world, dict):  # else it is refused where it is validated
        out["world"] = {**world, "objects": objects_tree(world.get("objects"))}
        if isinstance(world.get("scene"), str):
            out["world"]["scene"] = absolute(world["scene"])
    for vehicle in vehicles_of(out, source):
        vehicle["sensors"] = sensors_tree(vehicle.get("sensors"), source)
        vehicle["firmware"] = firmware_tree(vehicle.get("firmware"), source)
        begin_with_joints(vehicle, source)
    return out


def resolve_again(
    path: Path, *, sensors: str | None, scene: str | None, assignments: Sequence[str] = ()
) -> tuple[Scenario, dict[str, Any]]:
    """A resolved tree, such as a run folder's config.yaml, with other sensors, another scene or other keys.

    Raises:
        BadInput: not such a file, or anything unknown or impossible, in one line.
    """
    tree = with_new_names(read_yaml(path))
    if scene is not None:
        tree["world"] = {**mapping_of(tree, "world", str(path)), "scene": scene}
    for vehicle in vehicles_of(tree, str(path)) if sensors is not None else ():
        vehicle["sensors"] = sensors
    tree = _with_presets(tree, str(path) if sensors is None else f"--sensors {sensors}")
    for assignment in assignments:
        tree = _with_presets(assigned(tree, assignment), f"--set {assignment}")
    typed = {} if scene is None else {"world.scene": f"--scene {scene}"}
    return scenario_of(tree, str(path), typed), tree


def scenario_of(tree: dict[str, Any], source: str, typed: Mapping[str, str] = {}) -> Scenario:
    """Check a resolved tree, such as a run folder's config.yaml.

    Args:
        tree: as it was resolved.
        source: names it in errors.
        typed: options by the paths of the keys that they have set, to be named in its place.

    Raises:
        BadInput: see `iap_description.config.record.validate`; it names keys as the tree has them.
    """
    listed = as_list(with_new_names(tree))
    if "vehicles" not in tree:
        typed = {
            f"vehicles.0.{path}" if path.split(".")[0] in VEHICLE_KEYS else path: option
            for path, option in typed.items()
        }
    try:
        return validate(Scenario, listed, source=source, typed=typed)
    except BadInput as error:
        if "vehicles" in tree:
            raise
        raise BadInput(str(error).replace("vehicles.0.", "")) from error
