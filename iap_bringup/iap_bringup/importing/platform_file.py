# SPDX-License-Identifier: BSD-3-Clause
"""The platform of an imported vehicle."""

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from iap_bringup.importing.rotor_options import RotorSet
from iap_bringup.importing.vehicle_model import RotorSource, VehicleModel
from iap_description.arrays import Array
from iap_description.assets.poses import Tree, rounded
from iap_description.errors import BadInput

OF_ONE = 4  # rotors that an aircraft has at most
OF_GROUP = 3  # and each of several that are fixed to a centre
SHARE = 0.1  # of mass and inertia that a group of rotors has of a vehicle with more than four
UPRIGHT = 1e-6
DARK, BLUR = [0.17, 0.17, 0.19, 1.0], [0.30, 0.34, 0.40, 0.25]
NO_DRAG = {"linear": [0.0, 0.0, 0.0], "quadratic": [0.0, 0.0, 0.0]}


def platform_of(
    vehicle: VehicleModel, rotors: RotorSet, source: str, *, physical: bool = False
) -> Tree:
    """The tree of a platform: one aircraft of up to four rotors, or groups of rotors fixed to a centre.

    Raises:
        BadInput: the vehicle has no mass, an inertia that no body has and that is not made `physical`, or fewer
            than four rotors.
    """
    mass, center, inertia = vehicle.lumped(source, physical=physical)
    if len(rotors.sources) < OF_ONE:
        raise BadInput(
            f"{source}: {len(rotors.sources)} rotors cannot turn a vehicle about all axes, four can"
        )
    radius = _radius([each.position for each in rotors.sources])
    shapes = [_moved(shape, -center) for link in vehicle.links for shape in link.shapes]
    shapes = shapes or list(_made_up(rotors.sources, center, radius))
    name = re.sub(r"\W+", "_", vehicle.name).strip("_") or "imported"
    head = {"name": name, "description": f"{vehicle.name}, imported."}
    tail = {"tool": None, "ground_clearance": _clearance(shapes)}
    mounts = _mounts(-center, radius)
    arms = list(_arms(rotors.sources, center, radius))
    hub = {"shape": "sphere", "radius": 0.25 * radius, "color": DARK}
    visual = [*({**shape, "color": DARK} for shape in shapes), *arms, hub]
    if len(rotors.sources) == OF_ONE:
        aircraft = _aircraft(name, mass, inertia, rotors.sources, center, rotors.model, radius)
        aircraft |= {"mounts": mounts, "collision": shapes, "visual": visual}
        return {**head, "aircraft": aircraft, "center": None, "joints": [], **tail}
    joints = _joined_aircraft(name, (mass, inertia, center), rotors, radius, source)
    hub_share = 1.0 - SHARE * len(joints)
    middle = {
        "mass": float(hub_share * mass),
        "inertia": _six(hub_share * inertia),
        "drag": NO_DRAG,
        "mounts": {"imu": mounts["imu"]},
        "collision": shapes,
        "visual": visual,
        "chassis": None,
    }
    return {**head, "aircraft": joints[0]["aircraft"], "center": middle, "joints": joints, **tail}


def _joined_aircraft(
    name: str, body: tuple[float, Array, Array], rotors: RotorSet, radius: float, source: str
) -> list[Tree]:
    """Aircraft of the groups of rotors, fixed to the centre.

    Args:
        name: of the platform.
        body: mass [kg], inertia (3, 3) [kg m^2] and CoM (3,) [m] of the vehicle.
        rotors: more than `OF_ONE`.
        radius: of a rotor [m].
        source: for messages.

    Raises:
        BadInput: there are too many.
    """
    (mass, inertia, center), groups = body, list(_groups(rotors.sources))
    if len(groups) * SHARE > 0.5:
        raise BadInput(
            f"{source}: its {len(rotors.sources)} rotors are {len(groups)} groups of three of one spin at most,"
            " and five are supported"
        )
    joints: list[Tree] = []
    for k, group in enumerate(groups):
        of_group = f"{name}_{k + 1}", SHARE * mass, SHARE * inertia, group
        aircraft = _aircraft(*of_group, center, rotors.model, radius)
        joints.append(
            {"type": "fixed", "position": [0.0, 0.0, 0.0], "yaw_deg": 0.0, "aircraft": aircraft}
        )
    return joints


def _aircraft(
    name: str,
    mass: float,
    inertia: Array,
    sources: Sequence[RotorSource],
    center: Array,
    model: Tree,
    radius: float,
) -> Tree:
    """The tree of an aircraft without shapes but propellers."""
    rows = []
    for each in sources:
        row: Tree = {"position": rounded(each.position - center), "spin": each.spin}
        if np.linalg.norm(each.direction - [0.0, 0.0, 1.0]) > UPRIGHT:
            row["direction"] = rounded(each.direction)
        rows.append(row)
    blade = {"shape": "box", "size": [1.8 * radius, 0.16 * radius, 0.02 * radius], "color": DARK}
    disc = {"shape": "cylinder", "radius": radius, "length": 0.001, "color": BLUR}
    return {
        "name": name,
        "description": "Imported.",
        "mass": float(mass),
        "inertia": _six(inertia),
        "rotor": model,
        "rotors": rows,
        "tilt_max_deg": 45.0,
        "drag": NO_DRAG,
        "mounts": _mounts(np.zeros(3), radius),
        "collision": [],
        "visual": [],
        "propeller": [blade, disc],
        "landing_gear": [],
    }


def _groups(sources: Sequence[RotorSource]) -> Iterator[Sequence[RotorSource]]:
    """Rotors of the same spin, up to three together."""
    for spin in ("ccw", "cw"):
        alike = [each for each in sources if each.spin == spin]
        for k in range(0, len(alike), OF_GROUP):
            yield alike[k : k + OF_GROUP]


def _six(inertia: Array) -> list[float]:
    """(ixx, iyy, izz, ixy, ixz, iyz)."""
    return rounded(np.append(np.diag(inertia), inertia[[0, 0, 1], [1, 2, 2]]))


def _radius(positions: Sequence[Array]) -> float:
    """A propeller's radius that leaves room to its neighbours [m]."""
    points = np.array(positions)
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    apart[apart < 1e-9] = np.inf
    least = float(apart.min())
    return 0.45 * least if math.isfinite(least) else 0.1


def _moved(shape: Tree, by: Array) -> Tree:
    return {**shape, "position": rounded(np.array(shape["position"]) + by)}


def _made_up(sources: Sequence[RotorSource], center: Array, radius: float) -> Iterator[Tree]:
    """A body and discs of propellers, where a file has no shapes."""
    yield {
        "shape": "cylinder",
        "radius": 0.5 * radius,
        "length": 0.5 * radius,
        "position": [0.0, 0.0, 0.0],
    }
    for each in sources:
        at = rounded(each.position - center)
        yield {"shape": "cylinder", "radius": radius, "length": 0.1 * radius, "position": at}


def _arms(sources: Sequence[RotorSource], center: Array, radius: float) -> Iterator[Tree]:
    """Rods from the middle to the rotors, which are seen."""
    for each in sources:
        x, y, z = (each.position - center).tolist()
        length, thick = math.hypot(x, y), 0.08 * radius
        turn = [0.0, 0.0, math.degrees(math.atan2(y, x))]
        size, at = [max(length, thick), thick, thick], [0.5 * x, 0.5 * y, z - thick]
        yield {"shape": "box", "size": size, "position": at, "rpy_deg": turn, "color": DARK}


def _mounts(origin: Array, radius: float) -> Tree:
    """Places of sensors: the inertial unit at the root's origin, others where there is room."""
    ahead, apart, level = 1.2 * radius, 0.4 * radius, [0.0, 0.0, 0.0]
    at = {
        "imu": rounded(origin),
        "uwb": [0.0, 0.0, 0.5 * radius],
        "lidar": [0.0, 0.0, 0.8 * radius],
        "left_camera": [ahead, apart, 0.0],
        "right_camera": [ahead, -apart, 0.0],
    }
    return {name: {"position": place, "rpy_deg": level} for name, place in at.items()}


def _clearance(shapes: Sequence[Tree]) -> float:
    """Height of the CoM over the lowest point of shapes [m], each taken as the ball or box around it."""
    low = 0.0
    for shape in shapes:
        half = 0.5 * shape["size"][2] if "size" in shape else shape["radius"]
        if shape["shape"] == "cylinder":
            half = 0.5 * shape["length"]
        low = min(low, shape["position"][2] - half)
    return round(-low, 6)
