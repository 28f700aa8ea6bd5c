# SPDX-License-Identifier: BSD-3-Clause
"""Keys that act on nothing in a flight, though each is right by itself: a table of them and of the reasons."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from iap_control.actuation.kinds import laws, platform_model
from iap_control.allocation.model import Actuation
from iap_description.config.plain_yaml import read_yaml
from iap_description.vehicles.assembly import Assembly
from iap_description.world.world import World
from iap_io.runs.vehicle_meta import TRUTH
from iap_physics.engines.make import FREE
from iap_simulation.scenario.randomization import is_loose, stands
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

AUTO = "auto"
_OF_VEHICLE = re.compile(r"^vehicles\.(\d+)\.")


class IdleKeys(NamedTuple):
    """Keys, and when they act on nothing.

    Attributes:
        keys: beginnings of their dotted paths, those of a vehicle without its place in the list.
        are_idle: whether they act on nothing, for one vehicle.
        reason: why, as the end of a sentence.
    """

    keys: tuple[str, ...]
    are_idle: Callable[[Scenario, VehicleSpec], bool]
    reason: str

    def have(self, path: str) -> bool:
        """True if a path is one of the keys or lies below one."""
        return any(path == key or path.startswith(f"{key}.") for key in self.keys)


def _has_no_camera(scenario: Scenario, vehicle: VehicleSpec) -> bool:
    return not (scenario.cameras or vehicle.sensors.cameras)


def _tilts_to_push(scenario: Scenario, vehicle: VehicleSpec) -> bool:
    kind = _actuation(scenario.world, vehicle)
    return kind is not None and kind.tilts_to_push


def _actuation(world: World, vehicle: VehicleSpec) -> Actuation | None:
    """Kind of actuation that the suite's law of a vehicle goes by; None with a law of the user's own."""
    if vehicle.control.law not in (AUTO, *laws()):
        return None
    gravity, coupling = world.gravity, vehicle.control.gains.com_coupling
    platform = vehicle.platform
    model = platform_model(
        Assembly.of(platform, vehicle.name), platform.fleet, gravity=gravity, com_coupling=coupling
    )
    return model.actuation


def _is_not_observed(scenario: Scenario, vehicle: VehicleSpec) -> bool:
    kind = _actuation(scenario.world, vehicle)
    return kind is not None and kind.name not in vehicle.control.gains.disturbance.actuation


IDLE = (
    IdleKeys(
        ("control.estimator", "control.frontend", "control.failsafe"),
        lambda s, v: v.control.state_source == TRUTH,
        "whose controllers fly on the truth (control.state_source)",
    ),
    IdleKeys(
        ("state_noise",),
        lambda s, v: v.control.state_source != TRUTH,
        "whose controllers fly on an estimate (control.state_source)",
    ),
    IdleKeys(
        ("control.wrench_filter", "control.wrench_source", "control.observer", "control.observer_gain",
         "metrics.after_contact", "metrics.steady", "metrics.force_band"),
        lambda s, v: not s.has_contact(v),
        "in which nothing is touched and no wrench measured",
    ),
    IdleKeys(
        ("control.gains.admittance",), lambda s, v: not v.control.admittance, "without control.admittance"
    ),
    IdleKeys(
        ("control.gains.wrench", "push"),
        lambda s, v: v.control.wrench_mode == "none",
        "without wrench control (control.wrench_mode)",
    ),
    IdleKeys(
        ("control.gains.wrench.paper",),
        lambda s, v: v.control.wrench_mode == "selective",
        "whose wrench control is selective (control.wrench_mode)",
    ),
    IdleKeys(
        ("control.gains.wrench.selective",),
        lambda s, v: v.control.wrench_mode == "paper",
        "whose wrench control is paper (control.wrench_mode)",
    ),
    IdleKeys(
        ("control.gains.rigid",),
        lambda s, v: not _tilts_to_push(s, v),
        "whose aircraft turn in joints (platform.joints)",
    ),
    IdleKeys(
        ("control.gains.disturbance",),
        _is_not_observed,
        "whose kind of actuation is none of control.gains.disturbance.actuation",
    ),
    IdleKeys(
        ("arm", "start.joints_deg"),
        lambda s, v: v.platform.arm is None,
        "without an arm (platform.arm)",
    ),
    IdleKeys(
        ("renderer", "recording.compression", "world.light", "world.weather", "world.time_of_day"),
        _has_no_camera,
        "without cameras (cameras, sensors.cameras)"
    ),
    IdleKeys(
        ("recording.jpeg_quality",),
        lambda s, v: _has_no_camera(s, v) or s.recording.compression != "jpeg",
        "whose images are not JPEG (recording.compression)",
    ),
    IdleKeys(
        ("draw.imu_position", "draw.imu_tilt_deg"),
        lambda s, v: v.sensors.imu is None,
        "without inertial units (sensors.imu)",
    ),
    IdleKeys(
        ("draw.mount_position", "draw.mount_tilt_deg"),
        lambda s, v: not v.sensors.mounted,
        "without lidar, depth camera and UWB (sensors)",
    ),
    IdleKeys(
        ("wind", "draw.drag", "draw.wind_speed", "draw.wind_direction_deg", "model_error.drag"),
        lambda s, v: s.drag == "off",
        "without drag, by which alone a wind pushes (drag)",
    ),
    IdleKeys(
        ("draw.drag", "model_error.drag"),
        lambda s, v: not s.has_drag,
        "without drag (drag: auto has it in a wind)",
    ),
    IdleKeys(
        ("wind.direction_deg", "wind.altitude", "draw.wind_speed", "draw.wind_direction_deg"),
        lambda s, v: s.wind.speed == 0.0,
        "without wind (wind.speed)",
    ),
    IdleKeys(
        ("draw.friction",),
        lambda s, v: s.engine.name == FREE,
        "since engine closed_form has no contact",
    ),
    IdleKeys(
        ("draw.stiffness",),
        lambda s, v: all(each.surface.stiffness is None for each in s.world.objects.values()),
        "without an object whose surface has a stiffness (world.objects)",
    ),
    IdleKeys(
        ("draw.object_position", "draw.object_rpy_deg"),
        lambda s, v: not any(map(stands, s.world.objects.values())),
        "without an object that has a place of its own (world.objects)",
    ),
    IdleKeys(
        ("draw.loose_position",),
        lambda s, v: not any(map(is_loose, s.world.objects.values())),
        "without an object that moves freely (world.objects)",
    ),
    IdleKeys(
        ("draw.motion_speed", "draw.motion_turn_deg", "draw.motion_shift"),
        lambda s, v: all(each.motion is None for each in s.world.objects.values()),
        "without an object that has a motion (world.objects)",
    ),
    IdleKeys(
        ("draw.object_mass",),
        lambda s, v: not s.world.has_free_objects,
        "without an object that has a mass (world.objects)",
    ),
    IdleKeys(
        ("draw.hinge_friction", "draw.hinge_damping", "draw.hinge_stiffness"),
        lambda s, v: all(each.hinge is None for each in s.world.objects.values()),
        "without an object that has a hinge (world.objects)",
    ),
    IdleKeys(
        ("draw.hinge_release",),
        lambda s, v: not any(o.hinge and o.hinge.latch for o in s.world.objects.values()),
        "without an object whose hinge has a latch (world.objects)",
    ),
    IdleKeys(
        ("draw.face_speed",),
        lambda s, v: all(latch.face is None for latch in s.latches.values()),
        "without a latch of a face (latches)",
    ),
)  # fmt: skip


def idle_notes(
    scenario: Scenario, keys: Mapping[str, str], more: Iterable[IdleKeys] = ()
) -> list[str]:
    """A line for each reason why some of the user's keys act on nothing in a flight.

    Args:
        scenario: that is flown.
        keys: dotted paths by what the user has typed for them.
        more: rules besides `IDLE`.
    """
    lines, left = list[str](), dict(keys)
    for rule in (*more, *IDLE):
        idle = [name for name, key in left.items() if _acts_on_nothing(rule, scenario, key)]
        left = {name: key for name, key in left.items() if name not in idle}
        if idle:
            lines.append(f"note: {', '.join(idle)}: acts on nothing in this flight, {rule.reason}")
    return lines


def _acts_on_nothing(rule: IdleKeys, scenario: Scenario, key: str) -> bool:
    """True if a key acts on nothing for its vehicle, or for all of them."""
    place = _OF_VEHICLE.match(key)
    if not rule.have(_OF_VEHICLE.sub("", key)):
        return False
    first = 0 if place is None else int(place[1])
    end = len(scenario.vehicles) if place is None else first + 1
    return all(rule.are_idle(scenario, vehicle) for vehicle in scenario.vehicles[first:end])


def keys_of_file(path: Path) -> list[str]:
    """Dotted paths of all values in a scenario's file; none of one that is resolved and names every key."""
    tree = read_yaml(path)
    needed = {name for name, field in Scenario.model_fields.items() if field.is_required()}
    return [] if needed - {"vehicles"} <= tree.keys() else list(_leaves(tree))


def _leaves(tree: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - YAML
    """Dotted paths of values, and of lists as a whole unless they are of mappings, such as `vehicles`."""
    has_rows = isinstance(tree, list) and any(isinstance(each, dict) for each in tree)
    if not (isinstance(tree, dict) or has_rows):
        yield path.rstrip(".")
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from _leaves(value, f"{path}{key}.")
