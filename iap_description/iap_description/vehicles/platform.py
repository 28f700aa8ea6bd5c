# SPDX-License-Identifier: BSD-3-Clause
"""Platforms: what the central body is, where the aircraft are joined to it, and how a name becomes a platform."""

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.config.alternatives import alternatives, near
from iap_description.config.plain_yaml import read_yaml
from iap_description.config.record import Record, merged, validate
from iap_description.config.text_files import check_yaml_path, is_file
from iap_description.config.values import Real
from iap_description.errors import BadInput
from iap_description.geometry.shapes import BodyShapes
from iap_description.vehicles.aircraft import Aircraft, Drag, Inertial
from iap_description.vehicles.arm import ARMS, Arm
from iap_description.vehicles.chassis import Chassis
from iap_description.vehicles.joint_spec import Friction, JointSpec
from iap_description.vehicles.joint_types import joint_type
from iap_description.vehicles.mount import Mount
from iap_description.vehicles.ports import Port
from iap_description.vehicles.tool import TOOL, Tool

DATA = Path(__file__).parents[1] / "data"
GENERATED = ("star", "line", "tilt")  # kinds of platforms with any number of aircraft
COUNTS = range(2, 13)  # of them
MOST_AIRCRAFT = 30  # of a platform: PyBullet moves a body of 128 coordinates at most, four of each spherical joint


class Center(Inertial):
    """The central body; its frame P is FLU with the origin at its CoM."""

    drag: Drag
    mounts: dict[str, Mount]
    collision: BodyShapes
    visual: BodyShapes
    chassis: Chassis | None  # adds tubes to the joints and landing gear to the shapes above


class Platform(Record):
    """An integrated aerial platform, or a single aircraft (``center: null`` and no joints)."""

    name: str
    description: str
    center: Center | None
    aircraft: Aircraft  # of every joint that names no other
    joints: Annotated[tuple[JointSpec, ...], Field(max_length=MOST_AIRCRAFT)]
    tool: Tool | None  # on the central body, or on the aircraft that flies alone
    arm: Arm | None = None  # there, too
    ground_clearance: Real  # height of P's origin above the ground that it stands on [m]

    @model_validator(mode="after")
    def _knows_the_masses_of_its_arm(self) -> Self:
        if self.arm is not None and not self.arm.has_bodies:
            raise ValueError("key 'arm': an arm with 'links' and 'motors' is needed")
        return self

    @model_validator(mode="after")
    def _is_a_platform(self) -> Self:
        if self.center is None:
            if self.tool is not None and self.tool.mass > 0.0:
                raise ValueError("key 'tool.mass': must be 0 on an aircraft without a center")
            if self.joints:
                raise ValueError(
                    "key 'joints': a platform without a center is one aircraft and has no joints"
                )
            return self
        if len(self.joints) < 2:
            raise ValueError(
                f"key 'joints': a center needs at least two aircraft, found {len(self.joints)}"
            )
        positions = np.array([joint.position for joint in self.joints])
        turn = any(joint_type(joint.type).is_free for joint in self.joints)
        if turn and np.ptp(positions, axis=0).max() < 1e-6:
            raise ValueError("key 'joints': all joints are at one point")
        return self

    @model_validator(mode="after")
    def _has_aircraft_that_turn_themselves(self) -> Self:
        """Refuse aircraft of fewer than four rotors where no others on the same body turn them."""
        fixed = [joint.holds for joint in self.joints] or [False]
        for i, (aircraft, is_fixed) in enumerate(zip(self.fleet, fixed, strict=True)):
            if not aircraft.turns_itself and not is_fixed:
                where = f"joints.{i}" if self.joints else "aircraft.rotors"
                raise ValueError(
                    f"key '{where}': an aircraft of {len(aircraft.rotors)} rotors cannot turn itself; it needs a joint"
                    " of type fixed or a spring, with others on the same body, or four rotors"
                )
        return self

    @property
    def count(self) -> int:
        """Number of aircraft N."""
        return max(1, len(self.joints))

    @property
    def fleet(self) -> tuple[Aircraft, ...]:
        """The record of every aircraft."""
        return tuple(joint.aircraft or self.aircraft for joint in self.joints) or (self.aircraft,)

    @property
    def ports(self) -> dict[str, Port]:
        """Docking ports of the central body; only an aircraft that flies alone has some."""
        return self.aircraft.ports if self.center is None else {}

    @property
    def ends(self) -> dict[str, Port | Mount]:
        """Ends that latches hold on the central body: docking ports, and the tip of the tool."""
        tip = {} if self.tool is None else {TOOL: self.tool.mount}
        return {**self.ports, **tip}


def platform_names() -> list[str]:
    """Names of the platforms that ship as files."""
    return sorted(path.stem for path in (DATA / "platforms").glob("*.yaml"))


def platform_tree(name: str) -> tuple[dict[str, Any], str]:
    """The plain tree of a platform, and the source to name in errors.

    Args:
        name: a shipped platform, ``star_N`` or ``line_N`` (N = 2..12), any of these with the suffix ``_fixed`` (links
            instead of joints), ``tilt_N`` (a fixed star of aircraft that tilt their rotors), or the path of a YAML
            file.

    Raises:
        BadInput: no such platform.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else DATA / "platforms" / f"{name}.yaml"
    if is_file(path):
        return _explicit(_with_aircraft(_platform_file(path), path)), str(path)
    if name.endswith("_fixed") and not name.endswith("_fixed_fixed"):
        tree, source = platform_tree(name.removesuffix("_fixed"))
        return _with_fixed_links(tree, name, source), source
    generated = re.fullmatch(rf"({'|'.join(GENERATED)})_([0-9]{{1,3}})", name)
    if generated and int(generated[2]) in COUNTS:
        kind, count = generated[1], int(generated[2])
        return _tilting(count) if kind == "tilt" else _generated(kind, count), name
    check_yaml_path(name)
    numbered = (f"{kind}_{count}" for kind in GENERATED for count in COUNTS)
    meant = near(name, [*platform_names(), *numbered]) or alternatives(name, platform_names())
    raise BadInput(
        f"unknown platform '{name}': {meant} (or star_N, line_N or tilt_N with"
        " N = 2..12, any of these with _fixed appended, or the path of a YAML file)"
    )


def load_platform(name: str) -> Platform:
    """Load and check a platform by name or path (see `platform_tree`)."""
    tree, source = platform_tree(name)
    return validate(Platform, tree, source=source)


def _platform_file(path: Path) -> dict[str, Any]:
    """A platform's tree as its file has it, on top of that of the platform which its key `extends` names, if any."""
    tree = read_yaml(path)
    base = tree.pop("extends", None)
    if base is None:
        return tree
    home = DATA / "platforms" / f"{base}.yaml"
    if not isinstance(base, str) or home == path or not is_file(home):
        raise BadInput(f"{path}: key 'extends': the name of another platform is expected")
    return merged(_platform_file(home), tree)


def _with_aircraft(tree: dict[str, Any], path: Path) -> dict[str, Any]:
    """A platform's tree with records in place of aircraft's names."""
    tree = _with_arm(_with_record(tree, path, "aircraft"), path)
    joints = tree.get("joints")
    if isinstance(joints, list):
        named = [
            _with_record(joint, path, f"joints.{i}.aircraft") if isinstance(joint, dict) else joint
            for i, joint in enumerate(joints)
        ]
        tree = {**tree, "joints": named}
    return tree


def _with_arm(tree: dict[str, Any], path: Path) -> dict[str, Any]:
    """A platform's tree with the record of its arm: one by its name, or one with other keys that it `extends`."""
    arm = tree.get("arm")
    over = {"extends": arm} if isinstance(arm, str) else arm
    if not isinstance(over, dict) or "extends" not in over:
        return tree
    name = over["extends"]
    if not isinstance(name, str):
        raise BadInput(f"{path}: key 'arm.extends': the name of an arm is expected")
    changes = {key: value for key, value in over.items() if key != "extends"}
    return {**tree, "arm": merged(read_yaml(ARMS.file_or_path(name)), changes)}


def _with_record(tree: dict[str, Any], path: Path, key: str) -> dict[str, Any]:
    """A tree with the record of its aircraft: one of the suite's by name, or a file beside the platform's."""
    name = tree.get("aircraft")
    if not isinstance(name, str):
        return tree
    is_path = name.endswith((".yaml", ".yml"))
    home = path.parent / name if is_path else DATA / "aircraft" / f"{name}.yaml"
    if not is_file(home):
        raise BadInput(f"{path}: key '{key}': no aircraft '{name}' in {home.parent}")
    return {**tree, "aircraft": _aircraft_tree(home, key)}


def _aircraft_tree(home: Path, key: str) -> dict[str, Any]:
    """An aircraft's tree, on top of that of the aircraft which its key `extends` names, if any."""
    tree = read_yaml(home)
    base = tree.pop("extends", None)
    if base is None:
        return tree
    if not isinstance(base, str) or base == home.stem:
        raise BadInput(f"{home}: key 'extends': the name of another aircraft is expected")
    return merged(_with_record({"aircraft": base}, home, key)["aircraft"], tree)


def _explicit(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree whose joints say everything, so that `--set` finds every key."""
    optional = {
        name: field.default.model_dump() if isinstance(field.default, Record) else field.default
        for name, field in JointSpec.model_fields.items()
        if not field.is_required()
    }
    joints = tree.get("joints")
    if not isinstance(joints, list):
        return tree
    plain = json.loads(json.dumps(optional))  # lists in place of tuples, and a copy
    full = [{**plain, **joint} if isinstance(joint, dict) else joint for joint in joints]
    return {**tree, "joints": full}


def _with_fixed_links(tree: dict[str, Any], name: str, source: str) -> dict[str, Any]:
    validate(Platform, tree, source=source)
    if not tree["joints"]:
        raise BadInput(f"platform '{name}': {source} has no joints to fix")
    return {
        **tree,
        "name": name,
        "joints": [
            {
                **joint,
                "type": "fixed",
                "axes": [],
                "limit_deg": None,
                "friction": Friction().model_dump(),
                "spring": None,
            }
            for joint in tree["joints"]
        ],
    }


def _generated(kind: str, count: int) -> dict[str, Any]:
    """A platform of `count` aircraft on a circle or on a line, with the centre of its three-aircraft sibling."""
    tree, _ = platform_tree("three_star" if kind == "star" else "three_line")
    height = tree["joints"][0]["position"][2]
    if kind == "star":
        smallest = math.hypot(*tree["joints"][0]["position"][:2])
        # propellers of neighbours clear each other
        radius = max(smallest, 0.4 / math.sin(math.pi / count))
        azimuths = [math.remainder(2.0 * math.pi * i / count, 2.0 * math.pi) for i in range(count)]
        joint_poses = [
            (radius * math.cos(a), radius * math.sin(a), math.degrees(a)) for a in azimuths
        ]
    else:
        joint_poses = [(0.5 * (count - 1) - i, 0.0, 0.0) for i in range(count)]
    joints = [
        {"type": "spherical", "position": [x, y, height], "yaw_deg": yaw}
        for x, y, yaw in joint_poses
    ]
    description = f"{count} aircraft on a {'circle' if kind == 'star' else 'line'}, generated."
    named = {"name": f"{kind}_{count}", "description": description, "joints": joints}
    return _explicit({**tree, **named})


def _tilting(count: int) -> dict[str, Any]:
    """A star of `count` aircraft that are fixed to the centre and tilt their rotors."""
    name = f"tilt_{count}"
    tree = _with_fixed_links(_generated("star", count), name, name)
    description = (
        f"{count} aircraft that tilt their rotors, fixed to a centre on a circle, generated."
    )
    aircraft = _aircraft_tree(DATA / "aircraft" / "f450_tilt.yaml", "aircraft")
    return {**tree, "description": description, "aircraft": aircraft}
