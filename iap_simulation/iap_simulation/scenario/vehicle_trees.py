# SPDX-License-Identifier: BSD-3-Clause
"""Trees of a scenario's vehicles: as a list, with names of platform and gains expanded, and with their start."""

import math
from typing import Any

from iap_control.gains import gains_tree
from iap_description.config.record import validate
from iap_description.errors import BadInput, shown
from iap_description.vehicles.platform import Platform, platform_tree
from iap_simulation.scenario.vehicle_spec import VEHICLE_KEYS

TOOL = "tool"  # key of a vehicle that replaces its platform's own
MOST_VEHICLES = 100


def vehicles_of(tree: dict[str, Any], source: str) -> list[dict[str, Any]]:
    """The vehicles of a tree, which is the vehicle itself in the shorthand of one.

    Raises:
        BadInput: they are no list of mappings, or there is none.
    """
    vehicles = tree.get("vehicles", [tree])
    if not isinstance(vehicles, list) or not vehicles:
        raise BadInput(f"{source}: key 'vehicles': a list with at least one vehicle is expected")
    if len(vehicles) > MOST_VEHICLES:
        count = f"{len(vehicles)} vehicles, at most {MOST_VEHICLES} fly together"
        raise BadInput(f"{source}: key 'vehicles': {count}")
    for vehicle in vehicles:
        if not isinstance(vehicle, dict):
            raise BadInput(
                f"{source}: key 'vehicles': a mapping is expected (got {shown(vehicle)})"
            )
    return vehicles


def mapping_of(tree: dict[str, Any], key: str, source: str) -> dict[str, Any]:
    """The mapping below a key.

    Raises:
        BadInput: there is none.
    """
    value = tree.get(key)
    if not isinstance(value, dict):
        raise BadInput(f"{source}: key '{key}': a mapping is expected (got {shown(value)})")
    return value


def begin_with_joints(vehicle: dict[str, Any], source: str) -> None:
    """Write the key `start.joints_deg` of a vehicle out as the home of its arm.

    Raises:
        BadInput: it has no arm, or they are no numbers.
    """
    start = vehicle.get("start")
    angles = start.get("joints_deg") if isinstance(start, dict) else None
    if angles is None:
        return
    platform = mapping_of(vehicle, "platform", source)
    if not isinstance(platform.get("arm"), dict):
        raise BadInput(f"{source}: key 'start.joints_deg': the platform has no arm")
    if not isinstance(angles, list) or not all(isinstance(each, float) for each in angles):
        raise BadInput(
            f"{source}: key 'start.joints_deg': numbers are expected (got {shown(angles)})"
        )
    home = [math.radians(angle) for angle in angles]
    vehicle["platform"] = {**platform, "arm": {**platform["arm"], "home": home}}


def expand_names(
    vehicle: dict[str, Any],
    source: str,
    *,
    platform: str | None = None,
    gains: str | None = None,
    sensors: str | None = None,
    state_source: str | None = None,
) -> None:
    """Replace the names of platform and gains by their trees.

    Args:
        vehicle: its tree, in which they are replaced.
        source: names it in errors.
        platform: in place of the vehicle's own, as all that follow; None leaves that.
        gains: preset.
        sensors: names of presets.
        state_source: truth, or a method of estimation.
    """
    named = platform or vehicle["platform"]  # which has a default
    if isinstance(named, str):
        vehicle["platform"], home = platform_tree(named)
        validate(Platform, vehicle["platform"], source=home)  # here its own file can be named
    if TOOL in vehicle:
        vehicle["platform"] = {
            **mapping_of(vehicle, "platform", source),
            TOOL: vehicle.pop(TOOL),
        }
    if sensors is not None:
        vehicle["sensors"] = sensors
    control = mapping_of(vehicle, "control", source)
    preset = gains or control.get("gains")
    if isinstance(preset, str):
        vehicle["control"] = {"preset": preset, **control, "gains": gains_tree(preset)}
    else:
        vehicle["control"] = {"preset": "custom", **control}
    if state_source is not None:
        vehicle["control"] = {**vehicle["control"], "state_source": state_source}


def as_list(tree: dict[str, Any]) -> dict[str, Any]:
    """The shorthand of one vehicle, written out as a list of one."""
    if "vehicles" in tree:
        return tree
    vehicle = {key: tree[key] for key in VEHICLE_KEYS if key in tree}
    return {**{k: v for k, v in tree.items() if k not in VEHICLE_KEYS}, "vehicles": [vehicle]}
